import type { ErrorCode } from '../../errors.ts';
import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import type { SentMessageFragment } from '../documents.generated.ts';
import { globalId, phoneOnly } from '../global-id.ts';
import {
  type Changes,
  type Fields,
  given,
  id,
  nullable,
  optional,
  type Shape,
  selected,
  text,
} from '../openapi/shape.ts';
import type { Answer } from '../route.ts';
import { time } from '../wire-time.ts';
import { contactDetails, contactGroups } from './contact-row.ts';

/** Whom a send is for: a phone number, or a contact by its id. */
function readRecipient(body: Body): { readonly to: string; readonly field: 'phone' | 'contact_id' } {
  const id = body.has('phone', 'phone_number') ? undefined : body.id('contact_id');
  if (id != null) return { to: globalId('Contact', id), field: 'contact_id' };
  if (body.has('contact_id') && !body.has('phone', 'phone_number')) return { to: '', field: 'contact_id' };
  return { to: phoneOnly(body.requiredText('phone', 'phone_number')), field: 'phone' };
}

/** The recipient, as every send takes it. */
const RECIPIENT: Fields = {
  phone: optional(
    text('A phone number in international format. A number that nobody has becomes a new contact.', {
      example: '+14155550123',
    }),
  ),
  contact_id: id('A contact, in place of `phone`.'),
  contact: given('input.contact', {
    without: ['country_id'],
    with: { country: text('A country by ISO 3166-1 code, such as `840` or `US`.', { example: 'US' }) },
  }),
};

/** The body of a send: its document's input, with the recipient as the wire has it. */
export const sendingBody = (changes: Changes): Shape =>
  given('input', { ...changes, with: { ...RECIPIENT, ...changes.with } });

/** What a document selects for version 1 alone. */
export const UNSAID = ['contact_created'];

/** The answer to a send. @param echo what it says of what was sent */
export const sentAnswer = (echo: Fields): Shape =>
  selected('message', {
    without: UNSAID,
    with: { phone: nullable(text('The number without its +.', { example: '14155550123' })), ...echo },
  });

/** Why a send may be refused. */
export const SENDING_ERRORS: readonly ErrorCode[] = [
  'NOT_FOUND',
  'FEATURE_LIMIT_EXCEEDED',
  'CONTACT_OPTED_OUT',
  'MESSAGING_NOT_CONFIGURED',
  'MESSAGE_SEND_FAILED',
];

/** What every send has in common, whatever is sent. */
export function readSending(call: Call, body: Body) {
  const recipient = readRecipient(body);
  const person = body.object('contact');
  return {
    /** The part of the mutation's input. */
    input: said({
      to: recipient.to,
      channelId: body.id('channel_id'),
      contact: person && { ...contactDetails(person, 'country'), ...contactGroups(person) },
      waitForAcceptance: !call.prefersAsync,
      idempotencyKey: call.idempotencyKey,
    }),
    /** How errors name its fields. */
    names: { to: recipient.field, 'contact.countryId': 'contact.country' },
    /** @param echo what was asked for, as it was asked */
    answer: (message: SentMessageFragment, echo: object): Answer => ({
      ...(call.prefersAsync && { status: 202, headers: { 'preference-applied': 'respond-async' } }),
      message: message.status === 'QUEUED' ? 'Message queued' : 'Message sent',
      data: {
        message_id: message.message_id,
        contact_id: message.contact_id,
        phone: message.phone?.replace(/^\+/, '') ?? null,
        status: message.status.toLowerCase(),
        sent_at: time(message.sent_at),
        chat_id: message.chat_id,
        chat_message_id: message.chat_message_id,
        ...echo,
        service_window: { open: message.service_window.open, expires_at: time(message.service_window.expires_at) },
      },
    }),
  };
}
