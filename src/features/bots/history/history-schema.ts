import { invalid } from '../../../core/errors.ts';
import { requireId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder } from '../../../schema/builder.ts';
import { messageLoader } from '../../messages/loaders.ts';
import { Message } from '../../messages/schema.ts';
import type { BotRow } from '../bot.ts';
import { Previewed, SilenceType } from '../preview-schema.ts';
import { Bot } from '../schema.ts';
import { type BotHistory, MATCHING_MS, MAX_TRIED, previewHistory, type TriedText } from './preview-history.ts';

const MAX_TEXTS = 500;

const Text = builder.objectRef<TriedText>('BotHistoryText').implement({
  description: 'Messages that read the same to a bot: equal but for case and white space.',
  fields: t => ({
    text: t.exposeString('text', {
      description: 'Text, caption or choice of the latest message; empty for messages without one.',
    }),
    messageCount: t.int({
      description: 'Number of messages with this text.',
      resolve: ({ messageIds }) => messageIds.length,
    }),
    answeredCount: t.exposeInt('answeredCount', {
      description:
        'How many of these messages would have been answered; the others fell into cool-downs, hand-overs or limits.',
    }),
    lastMessage: t.field({
      type: Message,
      nullable: true,
      description: 'The latest of these messages; null if it was deleted since.',
      resolve: ({ messageIds }, _args, context) => messageLoader(context).load(messageIds.at(-1) ?? ''),
    }),
    answers: t.field({
      type: [Previewed],
      description: 'What would have answered the latest of those that were answered; empty if none was.',
      resolve: ({ answers }) =>
        answers.map(({ bot, rule }) => ({ bot, rule, reason: undefined, reply: bot.reply, silence: undefined })),
    }),
    silence: t.expose('silence', {
      type: SilenceType,
      nullable: true,
      description: 'Why no bot would have answered, whatever its trigger; null if bots may.',
    }),
  }),
});

const Count = builder.objectRef<readonly [BotRow, number]>('BotHistoryCount').implement({
  description: 'How often a bot would have answered.',
  fields: t => ({
    bot: t.field({ type: Bot, description: 'The bot that was tried.', resolve: ([bot]) => bot }),
    answeredCount: t.int({
      description: 'Number of messages that it would have answered.',
      resolve: ([, count]) => count,
    }),
  }),
});

const History = builder.objectRef<BotHistory>('BotHistory').implement({
  description: 'What bots would have answered to messages of the past.',
  fields: t => ({
    messageCount: t.exposeInt('messageCount', { description: 'Number of messages that were tried.' }),
    answeredCount: t.exposeInt('answeredCount', {
      description: 'How many of the messages that were tried would have been answered.',
    }),
    bots: t.field({
      type: [Count],
      description: 'The bots that were tried, in their order, each with what it would have answered.',
      resolve: ({ byBot }) => [...byBot],
    }),
    textCount: t.int({
      description: 'Number of different texts among the messages.',
      resolve: ({ texts }) => texts.length,
    }),
    texts: t.field({
      type: [Text],
      description: 'The different texts, most frequent first.',
      args: {
        first: t.arg.int({ required: true, defaultValue: 100, description: `Number of texts: 1 to ${MAX_TEXTS}.` }),
        isAnswered: t.arg.boolean({ description: 'Only texts of which some, or none, would have been answered.' }),
      },
      resolve: ({ texts }, { first, isAnswered }) => {
        if (first < 1 || first > MAX_TEXTS)
          throw invalid({ first: [`Must be from 1 to ${MAX_TEXTS}.`] }, 'OUT_OF_RANGE');
        const wanted = isAnswered == null ? texts : texts.filter(text => text.answeredCount > 0 === isAnswered);
        return wanted.slice(0, first);
      },
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Value of `after` for the next request; null if all messages of the period were tried.',
    }),
  }),
});

builder.queryField('previewBotHistory', t =>
  t.field({
    type: History,
    description: `Shows what the bots of today would have answered to the messages since a time, in the order in which they came, without sending anything. Matching, cool-downs, hand-overs, opt-out words and limits are those of the live bots; each contact starts as one that no bot has answered yet. Tries ${MAX_TRIED} messages, or as many as ${MATCHING_MS / 1_000} seconds suffice for; \`after\` goes on with the rest. Costs fifty points of the rate limit.`,
    authScopes: { scope: ['bots:read', 'messages:read'] },
    extensions: { points: 50 },
    args: {
      since: t.arg({
        type: 'DateTime',
        required: true,
        description: 'Messages that arrived from this time on are tried.',
      }),
      after: t.arg.string({ description: '`endCursor` of the request before.' }),
      botId: t.arg.id({
        description: 'Tries this bot alone, as if it were enabled. Default: all enabled bots, as they are live.',
      }),
    },
    resolve: (_root, { since, after, botId }, context) =>
      previewHistory(context, {
        since,
        after: after ?? undefined,
        botId: botId == null ? undefined : requireId(tenantOf(context), 'Bot', botId),
      }),
  }),
);
