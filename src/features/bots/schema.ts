import { builder } from '../../builder.ts';
import { notFound } from '../../errors.ts';
import { numericId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import {
  BooleanFilter,
  connectionOf,
  DateTimeFilter,
  enumFilter,
  listArgs,
  orderOf,
  StringFilter,
} from '../lists/schema.ts';
import { type BotKind, type BotRefusal, type BotRow, KINDS, MAX, TRIGGERS, type Trigger } from './bot.ts';
import { changeBot, createBot, removeBot } from './change.ts';
import { botPage } from './list.ts';
import { MAX_MATCHED_TEXT, MAX_PATTERN } from './pattern.ts';
import { toWire } from './reply.ts';
import { Reply, ReplyInput } from './reply-schema.ts';
import { getBots } from './store.ts';

type Values<T extends string> = Record<string, { value: T; description: string }>;

const KIND_WORDS: Record<BotKind, string> = {
  message: 'It answers with a text, buttons, a list or a file.',
  template: 'It answers with a template.',
};
const Kind = builder.enumType('BotKind', {
  description: 'What sort of bot it is.',
  values: Object.fromEntries(
    KINDS.map(value => [value.toUpperCase(), { value, description: KIND_WORDS[value] }]),
  ) as Values<BotKind>,
});

const TRIGGER_WORDS: Record<Trigger, string> = {
  exact: 'The whole message is one of the keywords.',
  contains: 'One of the keywords stands anywhere in the message, also within a word.',
  starts_with: 'The message begins with one of the keywords.',
  first_message: "The contact's very first message, whatever it says.",
  any: 'Every message.',
  regex: `The pattern is found in the message (its first ${MAX_MATCHED_TEXT} characters).`,
};
export const TriggerType = builder.enumType('BotTrigger', {
  description:
    'What a bot answers to. Keywords are compared whatever the case, the width of characters and the amount of white space. What is compared is the text or the caption; of the answer to buttons or a list the title and the id.',
  values: Object.fromEntries(
    TRIGGERS.map(value => [value.toUpperCase(), { value, description: TRIGGER_WORDS[value] }]),
  ) as Values<Trigger>,
});

const Refusal = builder.objectRef<BotRefusal>('BotRefusal').implement({
  description: 'Why an answer could not be sent.',
  fields: t => ({
    code: t.exposeString('code', {
      description:
        'The code that a send is refused with, such as VALIDATION_ERROR for a template that is not approved; TOO_OLD and DISABLED for answers that came too late.',
    }),
    message: t.exposeString('message', { description: 'The same in words.' }),
    refusedAt: t.expose('refused_at', { type: 'DateTime', description: 'When.' }),
  }),
});

export const Bot = builder.objectRef<BotRow>('Bot');

builder.node(Bot, {
  name: 'Bot',
  description: 'What answers by itself to what people write.',
  id: { resolve: bot => bot.id },
  brandLoadedObjects: true,
  loadMany: async (ids, context) => {
    if (!context.principal?.scopes.has('bots:read')) return ids.map(() => undefined);
    const rows = await getBots(context.db.read, tenantOf(context), ids.map(Number).filter(Number.isSafeInteger));
    return ids.map(id => rows.find(row => row.id === Number(id)));
  },
  fields: t => ({
    databaseId: t.field({ type: 'BigInt', description: 'The number that REST knows it by.', resolve: bot => bot.id }),
    name: t.exposeString('name', { description: 'What it is called; nobody it answers sees that.' }),
    kind: t.field({ type: Kind, description: 'What sort of bot it is.', resolve: bot => bot.kind }),
    trigger: t.field({ type: TriggerType, description: 'What it answers to.', resolve: bot => bot.trigger }),
    keywords: t.stringList({
      description: 'Of EXACT, CONTAINS and STARTS_WITH; any of them will do.',
      resolve: bot => [...bot.keywords],
    }),
    pattern: t.exposeString('pattern', { nullable: true, description: 'Of REGEX: the regular expression.' }),
    isEnabled: t.exposeBoolean('is_enabled', { description: 'Whether it answers.' }),
    priority: t.exposeInt('priority', {
      description: 'Of several that match, the one with the highest answers; of equal ones the oldest.',
    }),
    othersMayAnswer: t.exposeBoolean('others_may_answer', {
      description: 'Whether bots behind it may answer the same message as well.',
    }),
    cooldownSeconds: t.exposeInt('cooldown_seconds', {
      description: 'So long it does not answer the same contact again.',
    }),
    handOverMinutes: t.exposeInt('hand_over_minutes', {
      description: 'So long it is silent after a person has written to the contact; 0: never.',
    }),
    reply: t.field({ type: Reply, description: 'What it answers with.', resolve: bot => bot.reply }),
    replyData: t.field({
      type: 'JSON',
      description:
        'The same as REST and events have it: one of text, interactive, media and template, with what was given and nothing else.',
      resolve: bot => toWire(bot.reply),
    }),
    repliesCount: t.field({
      type: 'BigInt',
      description: 'How often it has answered.',
      resolve: bot => bot.replies_count,
    }),
    lastRepliedAt: t.expose('last_replied_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last answered.',
    }),
    lastRefusal: t.field({
      type: Refusal,
      nullable: true,
      description: 'Why one of its answers could not be sent: the last time that happened.',
      resolve: bot => bot.last_refusal,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'When it was last changed by somebody.' }),
  }),
});

const Filter = builder.inputType('BotFilter', {
  description: 'Which bots a list shows. All conditions have to hold.',
  fields: t => ({
    name: t.field({ type: StringFilter, description: 'By name.' }),
    kind: t.field({ type: enumFilter(Kind), description: 'By kind.' }),
    trigger: t.field({ type: enumFilter(TriggerType), description: 'By trigger.' }),
    isEnabled: t.field({ type: BooleanFilter, description: 'By whether it answers.' }),
    createdAt: t.field({ type: DateTimeFilter, description: 'By when it was made.' }),
    updatedAt: t.field({ type: DateTimeFilter, description: 'By when it was last changed.' }),
  }),
});
const Order = orderOf('Bot', 'bots', {
  ID: { value: 'id', description: 'The order in which they were made.' },
  NAME: { value: 'name', description: 'The name.' },
  PRIORITY: { value: 'priority', description: 'The priority.' },
  CREATED_AT: { value: 'createdAt', description: 'When it was made.' },
  UPDATED_AT: { value: 'updatedAt', description: 'When it was last changed.' },
});

builder.queryFields(t => ({
  bots: t.field({
    type: connectionOf('Bot', Bot),
    description:
      'The bots of the tenant, oldest first where no order is asked for. `search` looks in names and keywords.',
    authScopes: { scope: 'bots:read' },
    args: {
      ...listArgs(Filter, Order),
    },
    resolve: (_root, args, context) => botPage(context, args),
  }),
  bot: t.field({
    type: Bot,
    nullable: true,
    description: 'One bot, by global id or databaseId.',
    authScopes: { scope: 'bots:read' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: async (_root, { id }, context) => {
      const [bot] = await getBots(context.db.read, tenantOf(context), [numericId('Bot', id)]);
      if (!bot) throw notFound('Bot');
      return bot;
    },
  }),
}));

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

const optionalFields = (t: InputFields) => ({
  keywords: t.stringList({
    description: `1 to ${MAX.keywords}, each of at most ${MAX.keyword} characters. Required for EXACT, CONTAINS and STARTS_WITH; others have none.`,
  }),
  pattern: t.string({
    description: `Required for REGEX: an expression of RE2 (no look-around, no back-references) of at most ${MAX_PATTERN} characters. It is looked for anywhere, whatever the case; \`^\`, \`$\` and \`\\b\` hold it fast, \`(?-i)\` minds the case.`,
  }),
  isEnabled: t.boolean({ description: 'Whether it answers; true when nothing is said.' }),
  priority: t.int({
    description:
      'Of several that match, the one with the highest answers; of equal ones the oldest. 0 when nothing is said.',
  }),
  othersMayAnswer: t.boolean({
    description: 'Whether bots behind it may answer the same message as well; false when nothing is said.',
  }),
  cooldownSeconds: t.int({
    description: `So long it does not answer the same contact again: 0 to ${MAX.cooldownSeconds}, 0 when nothing is said.`,
  }),
  handOverMinutes: t.int({
    description: `So long it is silent after a person has written to the contact: 0 to ${MAX.handOverMinutes}, 0 when nothing is said. Every message that no bot sent counts, but for templates: those are campaigns, one-time codes and the like.`,
  }),
  idempotencyKey: t.string({
    description: 'Makes a repeated request the same one for 24 hours. At most 255 characters.',
  }),
});

const CreateBotInput = builder.inputType('CreateBotInput', {
  description: 'A new bot.',
  fields: t => ({
    name: t.string({ required: true, description: `What it is called: at most ${MAX.name} characters.` }),
    trigger: t.field({ type: TriggerType, required: true, description: 'What it answers to.' }),
    reply: t.field({ type: ReplyInput, required: true, description: 'What it answers with.' }),
    ...optionalFields(t),
  }),
});

const UpdateBotInput = builder.inputType('UpdateBotInput', {
  description: 'What to change of a bot; what is left out stays.',
  fields: t => ({
    name: t.string({ description: `What it is called: at most ${MAX.name} characters.` }),
    trigger: t.field({
      type: TriggerType,
      description: 'What it answers to. Keywords or a pattern that the new one has no use for go.',
    }),
    reply: t.field({ type: ReplyInput, description: 'What it answers with, all of it.' }),
    ...optionalFields(t),
  }),
});

builder.mutationFields(t => ({
  createBot: t.field({
    type: Bot,
    description: 'Makes a bot. It answers what comes in from now on.',
    authScopes: { scope: 'bots:write' },
    args: { input: t.arg({ type: CreateBotInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => createBot(context, input),
  }),
  updateBot: t.field({
    type: Bot,
    description: 'Changes a bot.',
    authScopes: { scope: 'bots:write' },
    args: {
      id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }),
      input: t.arg({ type: UpdateBotInput, required: true, description: 'What to change; what is left out stays.' }),
    },
    resolve: (_root, { id, input }, context) => changeBot(context, numericId('Bot', id), input),
  }),
  deleteBot: t.field({
    type: Bot,
    description: 'Removes a bot. Answers what it was.',
    authScopes: { scope: 'bots:write' },
    args: { id: t.arg.id({ required: true, description: 'Its global id or databaseId.' }) },
    resolve: (_root, { id }, context) => removeBot(context, numericId('Bot', id)),
  }),
}));
