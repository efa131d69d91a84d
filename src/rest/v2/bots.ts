import { notFound } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import {
  type BotFilter,
  type BotOrderField,
  type BotRowFragment,
  CreateBotDocument,
  type CreateBotInput,
  DeleteBotDocument,
  GetBotDocument,
  ListBotsDocument,
  UpdateBotDocument,
} from '../documents.generated.ts';
import { type ListFields, readList } from '../list-query.ts';
import { flag, given, selected } from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Route, route } from '../route.ts';
import type { Switches } from '../sparse.ts';
import { time, type WriteTime } from '../wire-time.ts';
import { REPLY_BODY, REPLY_NAMES, readReply, replyAnswer } from './bot-reply.ts';

const FIELDS = rowFields(ListBotsDocument);

export const BOTS: ListFields<keyof BotFilter, BotOrderField> = {
  filters: {
    name: ['name', 'text'],
    kind: ['kind', 'word'],
    trigger: ['trigger', 'word'],
    is_enabled: ['isEnabled', 'flag'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  sorts: { id: 'ID', name: 'NAME', priority: 'PRIORITY', created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

const TRIGGERS = {
  exact: 'EXACT',
  contains: 'CONTAINS',
  starts_with: 'STARTS_WITH',
  first_message: 'FIRST_MESSAGE',
  any: 'ANY',
  regex: 'REGEX',
} as const;

/** A bot on the wire. What was not read is undefined, and so not written. */
export const botRowBy = (time: WriteTime) => (bot: BotRowFragment) => ({
  ...bot,
  kind: bot.kind?.toLowerCase(),
  trigger: bot.trigger?.toLowerCase(),
  last_replied_at: time(bot.last_replied_at),
  last_refusal: bot.last_refusal && { ...bot.last_refusal, refused_at: time(bot.last_refusal.refused_at) },
  created_at: time(bot.created_at),
  updated_at: time(bot.updated_at),
});

const botRow = botRowBy(time);

const shownOf = (call: Call): Switches => readShown(call.query, FIELDS, call.errors);

const readBot = (call: Call, body: Body) =>
  said({
    name: body.text('name'),
    trigger: body.choice(TRIGGERS, 'trigger'),
    keywords: body.texts('keywords'),
    pattern: body.text('pattern'),
    isEnabled: body.flag('is_enabled', 'enabled'),
    priority: body.whole('priority'),
    othersMayAnswer: body.flag('others_may_answer'),
    cooldownSeconds: body.whole('cooldown_seconds'),
    handOverMinutes: body.whole('hand_over_minutes'),
    reply: readReply(body),
    idempotencyKey: call.idempotencyKey,
  });

/** How a bot on the wire differs from what is selected. */
const BOT = { with: { reply: replyAnswer(flag) } };

const BODY = given('input', { with: { reply: REPLY_BODY } });

export const botRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/bots',
    document: ListBotsDocument,
    list: BOTS,
    answer: selected('list.nodes', BOT),
    plan: call => {
      const list = readList(call.query, BOTS, call.errors);
      return {
        variables: { ...list, ...shownOf(call) },
        respond: ({ list: { nodes, totalCount } }) => ({
          message: 'Bots',
          data: nodes.map(botRow),
          page: { ...list, total: totalCount },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id',
    document: GetBotDocument,
    answer: selected('row', BOT),
    plan: call => ({
      variables: { id: call.id('Bot'), ...shownOf(call) },
      respond: ({ row }) => {
        if (!row) throw notFound('Bot');
        return { message: 'Bot', data: botRow(row) };
      },
    }),
  }),
  route({
    method: 'POST',
    path: '/bots',
    document: CreateBotDocument,
    status: 201,
    answer: selected('row', BOT),
    body: given('input', { with: { reply: { ...REPLY_BODY, required: true } } }),
    example: {
      name: 'Prices',
      trigger: 'contains',
      keywords: ['price', 'cost'],
      reply: { text: { text: 'Our prices, @{contact_first_name}: https://example.com/prices' } },
    },
    errors: ['FEATURE_NOT_AVAILABLE', 'FEATURE_LIMIT_EXCEEDED', 'MESSAGING_NOT_CONFIGURED'],
    plan: call => {
      const body = call.body();
      const { name, trigger, reply, ...others } = readBot(call, body);
      const missing = { name: !name, trigger: trigger == null, reply: !reply };
      for (const [field, isMissing] of Object.entries(missing))
        if (isMissing && !Object.hasOwn(call.errors.fields, field)) call.errors.add(field, 'Is required.');
      const input: CreateBotInput = { ...others, name: name ?? '', trigger: trigger ?? 'ANY', reply: reply ?? {} };
      return {
        variables: { input, ...shownOf(call) },
        names: REPLY_NAMES,
        respond: ({ row }) => ({ message: 'Bot created', data: botRow(row) }),
      };
    },
  }),
  route({
    method: 'PATCH',
    path: '/bots/:id',
    document: UpdateBotDocument,
    body: BODY,
    answer: selected('row', BOT),
    example: { is_enabled: false },
    errors: ['FEATURE_NOT_AVAILABLE', 'FEATURE_LIMIT_EXCEEDED', 'MESSAGING_NOT_CONFIGURED'],
    plan: call => ({
      variables: { id: call.id('Bot'), input: readBot(call, call.body()), ...shownOf(call) },
      names: REPLY_NAMES,
      respond: ({ row }) => ({ message: 'Bot updated', data: botRow(row) }),
    }),
  }),
  route({
    method: 'DELETE',
    path: '/bots/:id',
    document: DeleteBotDocument,
    plan: call => ({
      variables: { id: call.id('Bot') },
      respond: ({ row }) => ({ message: 'Bot deleted', data: row }),
    }),
  }),
];
