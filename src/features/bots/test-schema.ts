import { builder } from '../../builder.ts';
import { numericId } from '../../global-ids.ts';
import type { Rule } from './bot.ts';
import { REASONS, type Reason, SILENCES, type Silence } from './decide.ts';
import { Reply } from './reply-schema.ts';
import { Bot, TriggerType } from './schema.ts';
import { type BotTest, type TestedBot, testBot } from './test-bot.ts';

export const RuleType = builder.objectRef<Rule>('BotRule').implement({
  description: 'What of a bot matched a message.',
  fields: t => ({
    trigger: t.field({ type: TriggerType, description: 'The trigger.', resolve: rule => rule.trigger }),
    keyword: t.exposeString('keyword', {
      nullable: true,
      description: 'The keyword that matched, or the pattern; null where the trigger has none.',
    }),
  }),
});

const REASON_WORDS: Record<Reason, string> = {
  NO_MATCH: 'Its trigger does not fit the message.',
  DISABLED: 'It is switched off.',
  COOLING_DOWN: 'It has answered this contact a short while ago.',
  HANDED_OVER: 'A person has written to this contact a short while ago.',
  GREETED: 'It has welcomed this contact before.',
  ANOTHER_ANSWERS: 'A bot before it answers, and lets no other do so.',
};
const ReasonType = builder.enumType('BotReason', {
  description: 'Why a bot does not answer a message.',
  values: Object.fromEntries(REASONS.map(value => [value, { value, description: REASON_WORDS[value] }])) as Record<
    string,
    { value: Reason; description: string }
  >,
});

const SILENCE_WORDS: Record<Silence, string> = {
  TOO_OLD: 'It came more than five minutes ago.',
  NOT_ANSWERABLE: 'It is a reaction, a system note or the like.',
  OPTED_OUT: 'The contact asked not to be messaged.',
  OPT_WORD: 'It is a word by which people leave, or by which this contact comes back.',
  OWN_NUMBER: 'The contact is a business number that is connected here.',
  TOO_MANY_REPLIES: 'Bots have answered this contact too often lately: it may be a machine.',
};
const SilenceType = builder.enumType('BotSilence', {
  description: 'Why no bot answers a message.',
  values: Object.fromEntries(SILENCES.map(value => [value, { value, description: SILENCE_WORDS[value] }])) as Record<
    string,
    { value: Silence; description: string }
  >,
});

const Tested = builder.objectRef<TestedBot & Pick<BotTest, 'silence'>>('TestedBot').implement({
  description: 'What one bot makes of a message.',
  fields: t => ({
    bot: t.field({ type: Bot, description: 'The bot.', resolve: ({ bot }) => bot }),
    answers: t.boolean({
      description: 'Whether it would answer.',
      resolve: ({ reason, silence }) => reason === undefined && silence === undefined,
    }),
    reason: t.field({
      type: ReasonType,
      nullable: true,
      description: 'Why it would not.',
      resolve: ({ reason }) => reason,
    }),
    rule: t.field({ type: RuleType, nullable: true, description: 'What of it matched.', resolve: ({ rule }) => rule }),
    reply: t.field({
      type: Reply,
      description: 'What it answers with; with a contact, its merge fields filled.',
      resolve: ({ reply }) => reply,
    }),
  }),
});

const Test = builder.objectRef<BotTest>('BotTest').implement({
  description: 'What bots would make of a message.',
  fields: t => ({
    silence: t.field({
      type: SilenceType,
      nullable: true,
      description: 'Why nobody would answer, whatever matches.',
      resolve: ({ silence }) => silence,
    }),
    answers: t.field({
      type: [Tested],
      description: 'Those that would answer, in their order: one at the most, unless it lets others do so too.',
      resolve: ({ bots, silence }) =>
        bots.filter(bot => bot.reason === undefined && silence === undefined).map(bot => ({ ...bot, silence })),
    }),
    bots: t.field({
      type: [Tested],
      description: 'All bots in the order in which they are asked, with the reason of each that would not answer.',
      resolve: ({ bots, silence }) => bots.map(bot => ({ ...bot, silence })),
    }),
  }),
});

builder.queryField('testBot', t =>
  t.field({
    type: Test,
    description:
      'Says which bot would answer a text, and with what. It sends nothing. Whether a template is approved is not looked at. It costs ten points of the rate limit.',
    authScopes: { scope: 'bots:read' },
    // Every expression of the tenant is tried, some 45 ms of them at the worst.
    extensions: { points: 10 },
    args: {
      text: t.arg.string({ required: true, description: 'What somebody writes.' }),
      contactId: t.arg.id({
        description:
          'Who writes it: merge fields, cool-downs, hand-over and opt-out are then as they are (with the scope contacts:read).',
      }),
      isFirstMessage: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Without a contact: whether it is to count as the first message.',
      }),
    },
    resolve: (_root, { contactId, ...args }, context) =>
      testBot(context, { ...args, contactId: contactId == null ? undefined : numericId('Contact', contactId) }),
  }),
);
