import { notFound } from '../../errors.ts';
import type { Call } from '../call.ts';
import { type BotKind, type BotRowFragment, GetBotDocument, ListBotsDocument } from '../documents.generated.ts';
import { readList } from '../list-query.ts';
import { bit, type Changes, id, selected } from '../openapi/shape.ts';
import { type Route, route } from '../route.ts';
import { replyAnswer } from '../v2/bot-reply.ts';
import { BOTS, botRowBy } from '../v2/bots.ts';
import { legacyTime } from '../wire-time.ts';
import { wireFlag } from './wire-flag.ts';

const rowOf = botRowBy(legacyTime);

/** A bot on the wire: as in version 2, with its tenant. */
function botRow(bot: BotRowFragment, call: Call) {
  const { id, reply, ...row } = rowOf(bot);
  const given = reply as { readonly text?: { readonly preview_url?: boolean } } | undefined;
  const words = given?.text;
  return {
    id,
    tenant_id: call.tenantId,
    ...row,
    is_enabled: wireFlag(row.is_enabled === true),
    others_may_answer: wireFlag(row.others_may_answer === true),
    reply: words ? { ...given, text: { ...words, preview_url: wireFlag(words.preview_url === true) } } : reply,
  };
}

const ROW: Changes = { with: { tenant_id: id('The tenant.'), reply: replyAnswer(bit) } };

/** What sort of bot it is says the path. */
const { kind: _kind, ...filters } = BOTS.filters;
const FIELDS = { filters, sorts: BOTS.sorts };

function readBots(call: Call, kind: BotKind) {
  const list = readList(call.query, FIELDS, call.errors);
  return { ...list, filter: { ...list.filter, kind: { eq: kind.toLowerCase() } } };
}

const routesOf = (path: '/messagebots' | '/templatebots', kind: BotKind, what: string): readonly Route[] => [
  route({
    operationId: `List${what}Bots`,
    method: 'GET',
    path,
    document: ListBotsDocument,
    list: FIELDS,
    summary: `The ${what.toLowerCase()} bots of the tenant, oldest first where no order is asked for.`,
    // Brackets have to be written so in an address (RFC 3986 §3.4).
    successor: `/bots?filter%5Bkind%5D=${kind.toLowerCase()}`,
    answer: selected('list.nodes', ROW),
    plan: call => {
      const list = readBots(call, kind);
      return {
        variables: { ...list },
        respond: ({ list: { nodes, totalCount } }) => ({
          message: `${what} bots`,
          data: nodes.map(bot => botRow(bot, call)),
          page: { ...list, total: totalCount },
        }),
      };
    },
  }),
  route({
    operationId: `Get${what}Bot`,
    method: 'GET',
    path: `${path}/:id`,
    document: GetBotDocument,
    summary: `One ${what.toLowerCase()} bot.`,
    successor: '/bots/:id',
    answer: selected('row', ROW),
    plan: call => ({
      variables: { id: call.id('Bot') },
      respond: ({ row }) => {
        // One of the other sort is at another address.
        if (row?.kind !== kind) throw notFound('Bot');
        return { message: `${what} bot`, data: botRow(row, call) };
      },
    }),
  }),
];

/** Bots are only read here: version 2 and GraphQL change them. */
export const botRoutes: readonly Route[] = [
  ...routesOf('/messagebots', 'MESSAGE', 'Message'),
  ...routesOf('/templatebots', 'TEMPLATE', 'Template'),
];
