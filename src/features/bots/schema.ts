import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, readPage } from '../../database/list.ts';
import { Actor } from '../../schema/actor.ts';
import { builder, IDEMPOTENCY_KEY, type InputFields } from '../../schema/builder.ts';
import { databaseId } from '../../schema/database-id.ts';
import { deleteMutation } from '../../schema/delete-mutation.ts';
import { DATES, listQueries } from '../../schema/list-queries.ts';
import { BooleanFilter, enumFilter, StringFilter } from '../../schema/lists.ts';
import { rowLoader } from '../../schema/loaders.ts';
import { nodesByNumber } from '../../schema/nodes.ts';
import { entityPayload, mutation } from '../../schema/payload.ts';
import { MessageContent } from '../messages/content/union-schema.ts';
import {
  BOT_COLUMNS,
  BOT_LIMITS,
  type BotKind,
  type BotRefusal,
  type BotRow,
  KINDS,
  TRIGGERS,
  type Trigger,
} from './bot.ts';
import { changeBot, createBot, removeBot } from './change.ts';
import { MAX_MATCHED_TEXT, MAX_PATTERN } from './engine/pattern.ts';
import { toWire } from './reply/reply.ts';
import { replyDraft } from './reply/reply-draft.ts';
import { ReplyInput } from './reply/reply-schema.ts';
import { getBots } from './store.ts';

type Values<T extends string> = Record<string, { value: T; description: string }>;

const KIND_WORDS: Record<BotKind, string> = {
  message: 'Replies with a text, an interactive message or a file.',
  template: 'Replies with a template.',
};
const Kind = builder.enumType('BotKind', {
  description: 'Kind of a bot, which follows from its reply.',
  values: Object.fromEntries(
    KINDS.map(value => [value.toUpperCase(), { value, description: KIND_WORDS[value] }]),
  ) as Values<BotKind>,
});

const TRIGGER_WORDS: Record<Trigger, string> = {
  exact: 'The whole message equals one of the keywords.',
  contains: 'The message contains one of the keywords anywhere, also inside a word.',
  starts_with: 'The message starts with one of the keywords.',
  first_message: 'The message is the first one from this contact, with any content.',
  any: 'Every message matches.',
  regex: `The pattern is found in the message (its first ${MAX_MATCHED_TEXT} characters).`,
};
export const TriggerType = builder.enumType('BotTrigger', {
  description:
    'How a bot matches an inbound message. Compares the text or caption, or the title and id of a button or list answer. Keywords ignore case, character width and repeated white space.',
  values: Object.fromEntries(
    TRIGGERS.map(value => [value.toUpperCase(), { value, description: TRIGGER_WORDS[value] }]),
  ) as Values<Trigger>,
});

const Refusal = builder.objectRef<BotRefusal>('BotRefusal').implement({
  description: 'Most recent error of a bot whose reply could not be sent.',
  fields: t => ({
    code: t.exposeString('code', {
      description:
        'Error code of the send, for example VALIDATION_ERROR for a template that is not approved; TOO_OLD, DISABLED or HANDED_OVER if the reply was no longer due.',
    }),
    message: t.exposeString('message', { description: 'Human-readable error message.' }),
    refusedAt: t.expose('refused_at', { type: 'DateTime', description: 'Time at which the reply was refused.' }),
  }),
});

export const botLoader = rowLoader(getBots);

export const Bot = builder.objectRef<BotRow>('Bot');

builder.node(Bot, {
  name: 'Bot',
  description: 'An automatic reply to inbound messages that match a trigger.',
  interfaces: [Actor],
  id: { resolve: bot => bot.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('bots:read', getBots),
  fields: t => ({
    databaseId: databaseId(t),
    displayName: t.exposeString('name', { description: 'Name of the bot.' }),
    name: t.exposeString('name', { description: 'Internal name of the bot. Contacts do not see it.' }),
    kind: t.expose('kind', {
      type: Kind,
      description: 'MESSAGE or TEMPLATE, according to the reply.',
    }),
    trigger: t.expose('trigger', {
      type: TriggerType,
      description: 'How inbound messages are matched.',
    }),
    keywords: t.stringList({
      description: 'Keywords of EXACT, CONTAINS and STARTS_WITH, any of which matches. Empty for other triggers.',
      resolve: bot => [...bot.keywords],
    }),
    pattern: t.exposeString('pattern', {
      nullable: true,
      description: 'Regular expression (RE2 syntax) of the trigger REGEX; null for other triggers.',
    }),
    isEnabled: t.exposeBoolean('is_enabled', { description: 'Whether the bot replies to messages.' }),
    priority: t.exposeInt('priority', {
      description: 'Bots are tried in order of priority, highest first, then oldest first.',
    }),
    othersMayAnswer: t.exposeBoolean('others_may_answer', {
      description: 'Whether bots of lower priority may also reply to the same message.',
    }),
    cooldownSeconds: t.exposeInt('cooldown_seconds', {
      description: 'Seconds during which the bot does not reply to the same contact again; 0 for no limit.',
    }),
    handOverMinutes: t.exposeInt('hand_over_minutes', {
      description: 'Minutes during which the bot is silent after a person has written to the contact; 0 for never.',
    }),
    reply: t.field({
      type: MessageContent,
      description: 'What the bot replies, with merge fields that are not filled yet.',
      resolve: (bot, _args, context) => replyDraft(tenantOf(context), bot.reply),
    }),
    raw: t.field({
      type: 'JSON',
      description:
        'The reply as REST and webhooks show it: an object with one key (`text`, `interactive`, `media` or `template`).',
      resolve: bot => toWire(bot.reply),
    }),
    repliesCount: t.field({
      type: 'BigInt',
      description: 'Number of replies sent.',
      resolve: bot => bot.replies_count,
    }),
    lastRepliedAt: t.expose('last_replied_at', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last reply; null if there was none.',
    }),
    lastRefusal: t.field({
      type: Refusal,
      nullable: true,
      description: 'Most recent reply that could not be sent; null if there was none.',
      resolve: bot => bot.last_refusal,
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'Time of creation.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last change of its settings.' }),
  }),
});

const column = listColumns('bots', 'b');
const id = column('id', 'bigint');
const name = column('name', 'text');
const priority = column('priority', 'bigint');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

const BOTS: ListDefinition = {
  from: 'bots b',
  tenantColumn: 'b.tenant_id',
  filters: {
    id: { ...id, node: 'Bot' },
    name,
    kind: column('kind', 'text'),
    trigger: column('trigger', 'text'),
    isEnabled: column('is_enabled', 'boolean'),
    createdAt,
    updatedAt,
  },
  sorts: { id, name, priority, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: `search_fold(b.name || ' ' || array_to_string(b.keywords, ' '))`,
};

const SELECT = BOT_COLUMNS.map(name => `b.${name}` as const);

listQueries(Bot, {
  list: 'bots',
  one: 'bot',
  noun: 'bot',
  plural: 'bots',
  description: "Lists the tenant's bots, oldest first by default. `search` matches names and keywords.",
  scope: 'bots:read',
  filter: t => ({
    name: t.field({ type: StringFilter, description: 'Name of the bot.' }),
    kind: t.field({ type: enumFilter(Kind), description: 'Kind of the bot.' }),
    trigger: t.field({ type: enumFilter(TriggerType), description: 'How the bot matches messages.' }),
    isEnabled: t.field({ type: BooleanFilter, description: 'Whether the bot replies to messages.' }),
  }),
  order: {
    NAME: { value: 'name', description: 'Name of the bot.' },
    PRIORITY: { value: 'priority', description: 'Priority of the bot.' },
  },
  dates: { createdAt: DATES.createdAt, updatedAt: 'Time of the last change of its settings.' },
  page: (context, args) => readPage<BotRow>(context.db.read, BOTS, tenantOf(context), args, SELECT),
  get: getBots,
});

const optionalFields = (t: InputFields) => ({
  keywords: t.stringList({
    description: `1 to ${BOT_LIMITS.keywords} keywords of at most ${BOT_LIMITS.keyword} characters. Required for EXACT, CONTAINS and STARTS_WITH, refused for other triggers.`,
  }),
  pattern: t.string({
    description: `Regular expression in RE2 syntax (no look-around, no back-references), at most ${MAX_PATTERN} characters. Required for REGEX. Matches anywhere, ignoring case; anchor with \`^\`, \`$\` or \`\\b\`, and match case with \`(?-i)\`.`,
  }),
  isEnabled: t.boolean({ description: 'Whether the bot replies to messages. Default: true.' }),
  priority: t.int({
    description: 'Bots are tried in order of priority, highest first, then oldest first. Default: 0.',
  }),
  othersMayAnswer: t.boolean({
    description: 'Whether bots of lower priority may also reply to the same message. Default: false.',
  }),
  cooldownSeconds: t.int({
    description: `Seconds during which the bot does not reply to the same contact again: 0 to ${BOT_LIMITS.cooldownSeconds}. Default: 0.`,
  }),
  handOverMinutes: t.int({
    description: `Minutes during which the bot is silent after a person has written to the contact: 0 to ${BOT_LIMITS.handOverMinutes}. Default: 0. Every outbound message counts that was not sent by a bot and is not a template.`,
  }),
  idempotencyKey: t.string({
    description: IDEMPOTENCY_KEY,
  }),
});

const CreateBotInput = builder.inputType('CreateBotInput', {
  description: 'Settings of a new bot.',
  fields: t => ({
    name: t.string({ required: true, description: `Internal name of the bot, at most ${BOT_LIMITS.name} characters.` }),
    trigger: t.field({ type: TriggerType, required: true, description: 'How inbound messages are matched.' }),
    reply: t.field({ type: ReplyInput, required: true, description: 'The reply that the bot sends.' }),
    ...optionalFields(t),
  }),
});

const UpdateBotInput = builder.inputType('UpdateBotInput', {
  description: 'Changes to a bot. Omitted fields keep their values.',
  fields: t => ({
    id: t.id({ required: true, description: 'Global id or databaseId of the bot.' }),
    name: t.string({ description: `Internal name of the bot, at most ${BOT_LIMITS.name} characters.` }),
    trigger: t.field({
      type: TriggerType,
      description:
        'How inbound messages are matched. Keywords or a pattern that the new trigger does not use are removed.',
    }),
    reply: t.field({ type: ReplyInput, description: 'The new reply; it replaces the old one as a whole.' }),
    ...optionalFields(t),
  }),
});

const BotPayload = entityPayload('bot', Bot, 'The bot after the mutation.');

mutation('createBot', {
  description: 'Creates a bot. It replies to messages that arrive from now on.',
  scope: ['bots:write', 'messages:send'],
  input: CreateBotInput,
  payload: BotPayload,
  resolve: async (input, context) => ({ bot: await createBot(context, input) }),
});
mutation('updateBot', {
  description: 'Changes a bot.',
  scope: ['bots:write', 'messages:send'],
  input: UpdateBotInput,
  payload: BotPayload,
  resolve: async ({ id, ...input }, context) => ({
    bot: await changeBot(context, requireId(tenantOf(context), 'Bot', id), input),
  }),
});
deleteMutation('Bot', {
  noun: 'bot',
  description: 'Deletes a bot. Its messages remain.',
  scope: 'bots:write',
  remove: removeBot,
});
