import { z } from 'zod';
import { type AnswerSchema, bitSchema, LEGACY_TIME, rowId, timestamp } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { alias, dropUndefined, id, requiredText } from '../runtime/fields.ts';
import type { SentMessageFragment } from '../wire/documents.generated.ts';
import { bitOf, legacyTime, phoneOnly } from '../wire/values.ts';

/** The recipient of a send. */
export const RECIPIENT = {
  phone_number: alias(
    requiredText({
      description: 'Phone number in international format. An unknown number creates a contact.',
      examples: ['+14155550123'],
    }),
    'phone',
  ),
  contact_id: id({ description: 'Id of the contact to whom `phone_number` must belong.' }),
  channel_id: id({ description: "Id of the channel to send from. Default: the tenant's default channel." }),
};

/** The part of the input that all sends have in common. */
export const sendingInput = (
  call: Call,
  { phone_number, contact_id, channel_id }: z.output<z.ZodObject<typeof RECIPIENT>>,
) => ({
  to: phoneOnly(phone_number),
  ...dropUndefined({
    contactId: contact_id ?? undefined,
    channelId: channel_id,
    idempotencyKey: call.idempotencyKey,
  }),
  waitForAcceptance: true,
});

/** Names of the recipient's fields in errors. */
export const SENDING_NAMES = { to: 'phone_number', phone: 'phone_number' };

export const sentMessage = ({ status }: Pick<SentMessageFragment, 'status'>): string =>
  status === 'QUEUED' ? 'Message queued' : 'Message sent';

/** A sent message on the wire. */
export const sentRow = (message: SentMessageFragment) => ({
  message_id: message.message_id,
  contact_id: message.contact_id,
  phone: message.phone,
  status: message.status === 'CANCELLED' ? 'failed' : message.status.toLowerCase(),
  sent_at: legacyTime(message.sent_at),
  chat_id: message.chat_id,
  contact_created: bitOf(message.contact_created === true),
  whatsapp_response: { messages: message.message_id === null ? [] : [{ id: message.message_id }] },
});

/** The schema of an answer to a send. @param more further fields */
export const sentSchema = (more: Readonly<Record<string, AnswerSchema>> = {}): AnswerSchema =>
  z.object({
    message_id: z.string().nullable().describe('Id of the message on the network; null until it accepted the message.'),
    contact_id: rowId('Id of the contact.'),
    phone: z
      .string()
      .nullable()
      .meta({ description: 'Phone number with its `+`.', examples: ['+14155550123'] }),
    status: z.string().describe('The status of the message: `sent`, or `queued` if the network has not answered yet.'),
    sent_at: timestamp('Time at which the network accepted the message.', LEGACY_TIME).nullable(),
    chat_id: rowId('Id of the conversation.'),
    contact_created: bitSchema('Whether this send created the contact.'),
    whatsapp_response: z
      .object({
        messages: z
          .array(z.object({ id: z.string().describe('Id of the message on the network.') }))
          .describe('The message; empty until the network accepted it.'),
      })
      .describe('Response of the network.'),
    ...more,
  });
