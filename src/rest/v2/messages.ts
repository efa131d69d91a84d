import { notFound } from '../../errors.ts';
import type { Call } from '../call.ts';
import {
  GetMessageDocument,
  ListMessagesDocument,
  type MessageFilter,
  type MessageOrderField,
  type MessageRowFragment,
} from '../documents.generated.ts';
import { type ListFields, readList } from '../list-query.ts';
import { type Changes, nullable, selected, text } from '../openapi/shape.ts';
import { readShown, rowFields } from '../query.ts';
import { type Route, route } from '../route.ts';
import { time } from '../wire-time.ts';

const FIELDS = rowFields(ListMessagesDocument);

const STATUSES = {
  queued: 'QUEUED',
  sent: 'SENT',
  delivered: 'DELIVERED',
  read: 'READ',
  failed: 'FAILED',
  received: 'RECEIVED',
} as const;
const DIRECTIONS = { inbound: 'INBOUND', outbound: 'OUTBOUND' } as const;

const MESSAGES: ListFields<MessageFilter, MessageOrderField> = {
  filters: {
    type: ['type', 'word'],
    status: ['status', STATUSES],
    direction: ['direction', DIRECTIONS],
    interaction_id: ['conversationId', 'id'],
    contact_id: ['contactId', 'id'],
    created_at: ['createdAt', 'time'],
    updated_at: ['updatedAt', 'time'],
  },
  // Without any, newest first by id, which is the same order and stops at the newest partition.
  sorts: { created_at: 'CREATED_AT', updated_at: 'UPDATED_AT' },
};

/** How a message on the wire differs from what is selected. */
const MESSAGE: Changes = {
  with: { url: nullable(text('Where its file can be fetched, with a token; the link, where one was sent.')) },
};

/** A message on the wire, in the order of the contract. What was not read is undefined, and so not written. */
const messageRow = (row: MessageRowFragment, call: Call) => ({
  id: row.id,
  interaction_id: row.interaction_id,
  contact_id: row.contact_id,
  direction: row.direction?.toLowerCase(),
  type: row.type,
  message: row.message,
  status: row.status?.toLowerCase(),
  status_message: row.status_message,
  message_id: row.message_id,
  ref_message_id: row.ref_message_id,
  url: row.url && call.address(row.url.url),
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
    list: MESSAGES,
    answer: selected('messages.nodes', MESSAGE),
    plan: call => {
      const shown = readShown(call.query, FIELDS, call.errors);
      const list = readList(call.query, MESSAGES, call.errors);
      return {
        variables: { ...list, ...shown },
        respond: ({ messages }) => ({
          message: 'Messages',
          data: messages.nodes.map(row => messageRow(row, call)),
          page: { ...list, total: messages.totalCount },
        }),
      };
    },
  }),
  route({
    method: 'GET',
    path: '/messages/:id',
    document: GetMessageDocument,
    answer: selected('message', MESSAGE),
    plan: call => {
      const shown = readShown(call.query, FIELDS, call.errors);
      return {
        variables: { id: call.uuid('Message'), ...shown },
        respond: ({ message }) => {
          if (!message) throw notFound('Message');
          return { message: 'Message', data: messageRow(message, call) };
        },
      };
    },
  }),
];
