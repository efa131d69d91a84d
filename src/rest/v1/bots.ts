import { notFound } from '../../core/errors.ts';
import { rowId, selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import type { ListFields } from '../runtime/query.ts';
import { listResponse, type Route, route } from '../runtime/route.ts';
import { BOT_LIST, BOT_OVERRIDES, botRowBy } from '../wire/bots.ts';
import {
  type BotFilter,
  type BotKind,
  type BotOrderField,
  type BotRowFragment,
  GetBotDocument,
  ListBotsDocument,
} from '../wire/documents.generated.ts';
import { bitOf, legacyTime } from '../wire/values.ts';

const rowOf = botRowBy(legacyTime);

/** A bot on the wire: as in version 2, with its tenant. */
function botRow(bot: BotRowFragment, call: Call) {
  const { id, reply, ...row } = rowOf(bot);
  const parts = reply as { readonly text?: { readonly preview_url?: boolean } } | undefined;
  const text = parts?.text;
  return {
    id,
    tenant_id: call.tenantId,
    ...row,
    is_enabled: bitOf(row.is_enabled === true),
    others_may_answer: bitOf(row.others_may_answer === true),
    reply: text ? { ...parts, text: { ...text, preview_url: bitOf(text.preview_url === true) } } : reply,
  };
}

const SCHEMA_OVERRIDES = { with: { ...BOT_OVERRIDES.with, tenant_id: rowId('Id of the tenant.') } };

/** The path determines the kind. */
const { kind: _kind, ...filters } = BOT_LIST.filters;
const LIST: ListFields<BotFilter, BotOrderField> = { filters, sorts: BOT_LIST.sorts };

const routesOf = (path: '/messagebots' | '/templatebots', kind: BotKind, name: string): readonly Route[] => [
  route({
    operationId: `List${name}Bots`,
    method: 'GET',
    path,
    document: ListBotsDocument,
    list: LIST,
    summary: `The ${name.toLowerCase()} bots of the tenant, oldest first by default.`,
    // Brackets are percent-encoded in a query (RFC 3986 §3.4).
    successor: `/bots?filter%5Bkind%5D=${kind.toLowerCase()}`,
    answer: selectionOf('list.nodes', SCHEMA_OVERRIDES),
    variables: ({ list }) => ({ ...list, filter: { ...list.filter, kind: { eq: kind } } }),
    respond: ({ list: connection }, { call, list }) =>
      listResponse(`${name} bots`, connection, list, bot => botRow(bot, call)),
  }),
  route({
    operationId: `Get${name}Bot`,
    method: 'GET',
    path: `${path}/:id`,
    resource: 'Bot',
    document: GetBotDocument,
    summary: `One ${name.toLowerCase()} bot.`,
    successor: '/bots/:id',
    answer: selectionOf('row', SCHEMA_OVERRIDES),
    variables: ({ id }) => ({ id }),
    respond: ({ row }, { call }) => {
      // A bot of the other kind has another path.
      if (row?.kind !== kind) throw notFound('Bot');
      return { message: `${name} bot`, data: botRow(row, call) };
    },
  }),
];

/** Bots are read-only here: version 2 and GraphQL change them. */
export const botRoutes: readonly Route[] = [
  ...routesOf('/messagebots', 'MESSAGE', 'Message'),
  ...routesOf('/templatebots', 'TEMPLATE', 'Template'),
];
