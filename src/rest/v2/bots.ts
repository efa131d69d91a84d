import { selectionOf } from '../openapi/schema.ts';
import { alias, body, choice, flag, requiredChoice, requiredText, text, texts, whole } from '../runtime/fields.ts';
import { listResponse, type Names, type Route, requireRow, route } from '../runtime/route.ts';
import { BOT_LIST, BOT_OVERRIDES, botRowBy, REPLY, replyInput, TRIGGERS } from '../wire/bots.ts';
import {
  CreateBotDocument,
  DeleteBotDocument,
  GetBotDocument,
  ListBotsDocument,
  UpdateBotDocument,
} from '../wire/documents.generated.ts';
import { camelKeys } from '../wire/names.ts';
import { time } from '../wire/values.ts';

const botRow = botRowBy(time);

const SETTINGS = {
  keywords: texts({ maxItems: 50 }),
  pattern: text({ maxLength: 500 }),
  is_enabled: alias(flag(), 'enabled'),
  priority: whole(),
  others_may_answer: flag(),
  cooldown_seconds: whole({ minimum: 0, maximum: 2_592_000 }),
  hand_over_minutes: whole({ minimum: 0, maximum: 10_080 }),
};

/** Names of fields in errors: elsewhere GraphQL's `text` is `message`. */
const NAMES: Names = {
  'reply.text': 'reply.text',
  'reply.text.text': 'reply.text.text',
  'reply.template.header.text': 'reply.template.header.text',
};

export const botRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/bots',
    document: ListBotsDocument,
    list: BOT_LIST,
    answer: selectionOf('list.nodes', BOT_OVERRIDES),
    variables: ({ list }) => list,
    respond: ({ list: connection }, { list }) => listResponse('Bots', connection, list, botRow),
  }),
  route({
    method: 'GET',
    path: '/bots/:id',
    resource: 'Bot',
    document: GetBotDocument,
    answer: selectionOf('row', BOT_OVERRIDES),
    variables: ({ id }) => ({ id }),
    respond: ({ row }) => ({ message: 'Bot', data: botRow(requireRow(row, 'Bot')) }),
  }),
  route({
    method: 'POST',
    path: '/bots',
    document: CreateBotDocument,
    status: 201,
    body: body({
      name: requiredText({ maxLength: 255 }),
      trigger: requiredChoice(TRIGGERS),
      ...SETTINGS,
      reply: REPLY,
    }),
    answer: selectionOf('result.row', BOT_OVERRIDES),
    example: {
      name: 'Prices',
      trigger: 'contains',
      keywords: ['price', 'cost'],
      reply: { text: { text: 'Our prices, @{contact_first_name}: https://example.com/prices' } },
    },
    errors: ['FEATURE_NOT_AVAILABLE', 'FEATURE_LIMIT_EXCEEDED', 'MESSAGING_NOT_CONFIGURED'],
    names: NAMES,
    variables: ({ call, body: { reply, ...body } }) => ({
      input: camelKeys({ ...body, reply: replyInput(reply), idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { row } }) => ({ message: 'Bot created', data: botRow(requireRow(row, 'Bot')) }),
  }),
  route({
    method: 'PATCH',
    path: '/bots/:id',
    resource: 'Bot',
    document: UpdateBotDocument,
    body: body({
      name: text({ maxLength: 255 }),
      trigger: choice(TRIGGERS),
      ...SETTINGS,
      reply: REPLY.nullish(),
    }),
    answer: selectionOf('result.row', BOT_OVERRIDES),
    example: { is_enabled: false },
    errors: ['FEATURE_NOT_AVAILABLE', 'FEATURE_LIMIT_EXCEEDED', 'MESSAGING_NOT_CONFIGURED'],
    names: NAMES,
    variables: ({ call, id, body: { reply, ...body } }) => ({
      input: camelKeys({ ...body, reply: reply && replyInput(reply), id, idempotencyKey: call.idempotencyKey }),
    }),
    respond: ({ result: { row } }) => ({ message: 'Bot updated', data: botRow(requireRow(row, 'Bot')) }),
  }),
  route({
    method: 'DELETE',
    path: '/bots/:id',
    resource: 'Bot',
    document: DeleteBotDocument,
    variables: ({ id }) => ({ input: { id } }),
    respond: (_data, { id }) => ({ message: 'Bot deleted', data: { id: Number(id) } }),
  }),
];
