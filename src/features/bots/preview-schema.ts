import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder } from '../../schema/builder.ts';
import { MessageContent } from '../messages/content/union-schema.ts';
import type { Rule } from './bot.ts';
import { REASONS, type Reason, SILENCES, type Silence } from './engine/decide.ts';
import { type BotPreview, type PreviewedBot, previewBot } from './preview-bot.ts';
import { replyDraft } from './reply/reply-draft.ts';
import { Bot, TriggerType } from './schema.ts';

export const RuleType = builder.objectRef<Rule>('BotRule').implement({
  description: 'Trigger and keyword that matched a message.',
  fields: t => ({
    trigger: t.expose('trigger', { type: TriggerType, description: 'Trigger of the bot.' }),
    keyword: t.exposeString('keyword', {
      nullable: true,
      description: 'Keyword or pattern that matched; null if the trigger has neither.',
    }),
  }),
});

const REASON_WORDS: Record<Reason, string> = {
  NO_MATCH: 'The trigger does not match the message.',
  DISABLED: 'The bot is disabled.',
  COOLING_DOWN: 'The bot replied to this contact within `cooldownSeconds`.',
  HANDED_OVER: 'A person wrote to this contact within `handOverMinutes`.',
  GREETED: 'The bot of the trigger FIRST_MESSAGE has already replied to this contact.',
  ANOTHER_ANSWERS: 'A bot of higher priority replies and does not let others reply.',
};
const ReasonType = builder.enumType('BotReason', {
  description: 'Why a bot does not reply to a message.',
  values: Object.fromEntries(REASONS.map(value => [value, { value, description: REASON_WORDS[value] }])) as Record<
    string,
    { value: Reason; description: string }
  >,
});

const SILENCE_WORDS: Record<Silence, string> = {
  TOO_OLD: 'The message is more than five minutes old.',
  NOT_ANSWERABLE: 'The message is of a type that bots do not answer, for example a reaction or a system message.',
  OPTED_OUT: 'The contact opted out of messages.',
  OPT_WORD: 'The message is a keyword for opting out, or for opting in again.',
  OWN_NUMBER: "The contact's number is one of the tenant's own channels.",
  TOO_MANY_REPLIES: 'Bots replied to this contact too often recently; the contact may be a machine.',
};
export const SilenceType = builder.enumType('BotSilence', {
  description: 'Why no bot replies to a message.',
  values: Object.fromEntries(SILENCES.map(value => [value, { value, description: SILENCE_WORDS[value] }])) as Record<
    string,
    { value: Silence; description: string }
  >,
});

export const Previewed = builder.objectRef<PreviewedBot & Pick<BotPreview, 'silence'>>('PreviewedBot').implement({
  description: 'What one bot would do with a text.',
  fields: t => ({
    bot: t.expose('bot', { type: Bot, description: 'The bot that was tried.' }),
    isAnswering: t.boolean({
      description: 'Whether the bot would reply.',
      resolve: ({ reason, silence }) => reason === undefined && silence === undefined,
    }),
    reason: t.expose('reason', {
      type: ReasonType,
      nullable: true,
      description: 'Why the bot would not reply; null if it would.',
    }),
    rule: t.expose('rule', {
      type: RuleType,
      nullable: true,
      description: 'Trigger and keyword that matched; null if the trigger does not match.',
    }),
    reply: t.field({
      type: MessageContent,
      description: 'The reply that the bot would send. If `contactId` is given, its merge fields are filled.',
      resolve: ({ reply }, _args, context) => replyDraft(tenantOf(context), reply),
    }),
  }),
});

const Preview = builder.objectRef<BotPreview>('BotPreview').implement({
  description: 'What all bots would do with a text.',
  fields: t => ({
    silence: t.expose('silence', {
      type: SilenceType,
      nullable: true,
      description: 'Why no bot would reply, whatever its trigger; null if bots may reply.',
    }),
    answers: t.field({
      type: [Previewed],
      description: 'Bots that would reply, in order. More than one only if bots let others reply too.',
      resolve: ({ bots, silence }) =>
        bots.filter(bot => bot.reason === undefined && silence === undefined).map(bot => ({ ...bot, silence })),
    }),
    bots: t.field({
      type: [Previewed],
      description: 'All bots in the order in which they are tried, each with the reason if it would not reply.',
      resolve: ({ bots, silence }) => bots.map(bot => ({ ...bot, silence })),
    }),
  }),
});

builder.queryField('previewBot', t =>
  t.field({
    type: Preview,
    description:
      'Shows which bots would reply to a text, and how, without sending anything. Does not check whether a template is approved. Costs ten points of the rate limit.',
    authScopes: { scope: 'bots:read' },
    // Every expression of the tenant is tried, some 45 ms of them at the worst.
    extensions: { points: 10 },
    args: {
      text: t.arg.string({ required: true, description: 'Text of the simulated message.' }),
      contactId: t.arg.id({
        description:
          'Contact who writes the message. Its merge fields, cool-downs, hand-over and opt-out then apply. Requires the scope contacts:read.',
      }),
      isFirstMessage: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: "Without `contactId`: whether the text counts as the contact's first message.",
      }),
    },
    resolve: (_root, { contactId, ...args }, context) =>
      previewBot(context, {
        ...args,
        contactId: contactId == null ? undefined : requireId(tenantOf(context), 'Contact', contactId),
      }),
  }),
);
