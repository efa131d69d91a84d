import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import type { SentMessageFragment } from '../documents.generated.ts';
import { phoneOnly } from '../global-id.ts';
import {
  bit,
  type Changes,
  type Fields,
  id,
  LEGACY_TIME,
  list,
  nullable,
  object,
  required,
  type Shape,
  text,
} from '../openapi/shape.ts';
import { legacyTime } from '../wire-time.ts';
import { wireFlag } from './wire-flag.ts';

/** What of the input of a send does not stand in a body of version 1. */
export const UNSAID: NonNullable<Changes['without']> = ['phone', 'contact'];

/** The recipient, as every send takes it. */
export const RECIPIENT: Fields = {
  phone_number: required(
    text('A phone number in international format. A number that nobody has becomes a new contact.', {
      example: '+14155550123',
    }),
  ),
  channel_id: id('The channel to send from; the default one when nothing is said.'),
};

/** The answer to a send. @param more what it says besides */
export const sentShape = (more: Fields = {}): Shape =>
  object({
    message_id: nullable(text('The id of the network; null until it took the message.')),
    contact_id: id('The contact.'),
    phone: nullable(text('The number with its +.', { example: '+14155550123' })),
    status: text('How far the message has come: `sent`, or `queued` where the network has not answered yet.'),
    sent_at: nullable({ kind: 'plain', schema: { ...LEGACY_TIME, description: 'When the network took it.' } }),
    chat_id: id('The conversation.'),
    contact_created: bit('Whether this send made the contact.'),
    whatsapp_response: object(
      {
        messages: list(object({ id: text('The id of the network.') }), 'The message; none until the network took it.'),
      },
      'What the network answered.',
    ),
    ...more,
  });

/** What every send has in common, whatever is sent. */
export const readSending = (call: Call, body: Body) => ({
  to: phoneOnly(body.requiredText('phone_number', 'phone')),
  ...said({ channelId: body.id('channel_id'), idempotencyKey: call.idempotencyKey }),
  waitForAcceptance: true,
});

/** How errors name its fields. */
export const SENDING_NAMES = { to: 'phone_number', phone: 'phone_number' };

export const sentMessage = ({ status }: Pick<SentMessageFragment, 'status'>): string =>
  status === 'QUEUED' ? 'Message queued' : 'Message sent';

/** A message that was sent, on the wire. */
export const sentRow = (message: SentMessageFragment) => ({
  message_id: message.message_id,
  contact_id: message.contact_id,
  phone: message.phone,
  status: message.status.toLowerCase(),
  sent_at: legacyTime(message.sent_at),
  chat_id: message.chat_id,
  contact_created: wireFlag(message.contact_created === true),
  whatsapp_response: { messages: message.message_id === null ? [] : [{ id: message.message_id }] },
});
