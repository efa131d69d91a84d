import { notFound } from '../../../core/errors.ts';
import { parseUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import type { Context } from '../../../schema/context.ts';
import { loader } from '../../../schema/loaders.ts';
import { mutation } from '../../../schema/payload.ts';
import { Message } from '../schema.ts';
import { MessagePayload } from '../send/send-schema.ts';
import { cancelMessage, rescheduleMessage } from './change.ts';
import { ScheduledAtInput } from './input-schema.ts';
import { getScheduledAt } from './scheduled.sql.ts';

/** When messages are, or were, to be sent; undefined for those sent at once. */
const scheduledAtLoader = loader<string, string | undefined>(async (db, tenantId, ids) => {
  const found = await getScheduledAt(db, tenantId, ids);
  return ids.map(id => found.get(id));
});

builder.objectField(Message, 'scheduledAt', t =>
  t.field({
    type: 'DateTime',
    nullable: true,
    description: 'Time at which the message is, or was, to be sent; null if it was sent at once.',
    resolve: async ({ id, direction }, _args, context) =>
      direction === 'inbound' ? null : ((await scheduledAtLoader(context).load(id)) ?? null),
  }),
);

const idOf = (context: Context, id: string): string => {
  const key = parseUuid(tenantOf(context), 'Message', id);
  if (key === undefined) throw notFound('Message');
  return key;
};

mutation('cancelMessage', {
  description: 'Cancels a scheduled or queued message. CONFLICT if it was submitted to the network already.',
  scope: 'messages:send',
  input: builder.inputType('CancelMessageInput', {
    description: 'The message to cancel.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the message.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: MessagePayload,
  resolve: async (input, context) => ({
    message: await cancelMessage(context, { ...input, id: idOf(context, String(input.id)) }),
  }),
});

mutation('rescheduleMessage', {
  description: 'Changes the time of a scheduled message. CONFLICT if it is no longer scheduled.',
  scope: 'messages:send',
  input: builder.inputType('RescheduleMessageInput', {
    description: 'The scheduled message, and its new time.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the message.' }),
      scheduledAt: t.field({ type: ScheduledAtInput, required: true, description: 'When to send it.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: MessagePayload,
  resolve: async (input, context) => ({
    message: await rescheduleMessage(context, { ...input, id: idOf(context, String(input.id)) }),
  }),
});
