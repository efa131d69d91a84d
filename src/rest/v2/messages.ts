import { z } from 'zod';
import { type SchemaOverrides, selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import type { ListFields } from '../runtime/query.ts';
import { listResponse, type Route, requireRow, route } from '../runtime/route.ts';
import {
  GetMessageByIdentifierDocument,
  ListMessagesDocument,
  type MessageFilter,
  type MessageOrderField,
  type MessageRowFragment,
} from '../wire/documents.generated.ts';
import { wireStatus } from '../wire/sending.ts';
import { rowKey, time } from '../wire/values.ts';

const STATUSES = {
  queued: 'QUEUED',
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'READ',
  failed: 'FAILED',
  received: 'RECEIVED',
} as const;
const DIRECTIONS = { inbound: 'INBOUND', outbound: 'OUTBOUND' } as const;

const MESSAGE_LIST: ListFields<MessageFilter, MessageOrderField> = {
  filters: {
    type: ['networkType', 'word'],
    status: ['status', STATUSES],
    direction: ['direction', DIRECTIONS],
    interaction_id: ['conversationId', 'id'],
    contact_id: ['contactId', 'id'],
    message_id: ['wamid', 'text'],
    wamid: ['wamid', 'text'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  // The default is newest first by id: the same order, and the plan stops at the newest partition.
  sorts: { created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

type Status = MessageRowFragment['status'];

/** Statuses that are shown as one (`wireStatus`): a filter for it includes both. */
const SHOWN: Readonly<Partial<Record<string, readonly NonNullable<Status>[]>>> = {
  FAILED: ['FAILED', 'CANCELLED'],
  QUEUED: ['QUEUED', 'SCHEDULED'],
};

function withHiddenStatuses(filter: MessageFilter | null): MessageFilter | null {
  const status = filter?.status;
  if (!status) return filter;
  const { eq, ne, in: within, notIn, ...others } = status;
  const widened = (values: typeof within) => values?.flatMap(value => SHOWN[value] ?? [value]);
  const [eqs, nes] = [eq && SHOWN[eq], ne && SHOWN[ne]];
  return {
    ...filter,
    status: {
      ...others,
      ...(eqs ? {} : { eq }),
      ...(nes ? {} : { ne }),
      in: eqs ? (within && !within.some(value => value === eq) ? [] : eqs) : widened(within),
      notIn: nes ? [...(widened(notIn) ?? []), ...nes] : widened(notIn),
    },
  };
}

/** Fields of a message that differ from the document's selection. */
const SCHEMA_OVERRIDES: SchemaOverrides = {
  with: {
    url: z.string().nullable().describe('URL of the file, which requires a token, or the link that was sent.'),
  },
};

/** A message in REST, in the order of the contract. Fields that were not read stay undefined, which JSON omits. */
const messageRow = (row: MessageRowFragment, call: Call) => ({
  id: row.id,
  interaction_id: rowKey(row.interaction_id),
  contact_id: rowKey(row.contact_id),
  direction: row.direction?.toLowerCase(),
  type: row.type,
  message: row.message,
  status: row.status && wireStatus(row.status),
  status_message: row.status_message,
  status_reason: row.status_reason,
  message_id: row.message_id,
  ref_message_id: row.ref_message_id,
  url: row.url && call.address(row.url.path),
  scheduled_at: time(row.scheduled_at),
  sent_at: time(row.sent_at),
  delivered_at: time(row.delivered_at),
  read_at: time(row.read_at),
  created_at: time(row.created_at),
  is_read: row.is_read,
});

export const messageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/messages',
    document: ListMessagesDocument,
    list: MESSAGE_LIST,
    answer: selectionOf('messages.nodes', SCHEMA_OVERRIDES),
    variables: ({ list }) => ({ ...list, filter: withHiddenStatuses(list.filter) }),
    respond: ({ messages }, { call, list }) => listResponse('Messages', messages, list, row => messageRow(row, call)),
  }),
  route({
    method: 'GET',
    path: '/messages/:id',
    resource: 'Message',
    idKind: 'message',
    document: GetMessageByIdentifierDocument,
    params: {
      id: z.string().describe('Id of the message in this gateway (UUID), or on the network (wamid, URL-encoded).'),
    },
    answer: selectionOf('message', SCHEMA_OVERRIDES),
    variables: ({ id }) => ({ identifier: id.startsWith('wamid.') ? { wamid: id } : { id } }),
    respond: ({ message }, { call }) => ({
      message: 'Message',
      data: messageRow(requireRow(message, 'Message'), call),
    }),
  }),
];
