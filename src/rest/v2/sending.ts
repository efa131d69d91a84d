import { type Body, said } from '../body.ts';
import type { Call } from '../call.ts';
import type { Answer } from '../route.ts';
import { time } from '../wire-time.ts';
import { contactDetails, contactGroups } from './contact-row.ts';
import type { SentMessageFragment } from './documents.generated.ts';

/** The global id by which GraphQL tells a contact from a phone number. */
const contactGlobalId = (id: string): string => Buffer.from(`Contact:${id}`).toString('base64url');

/** Whom a send is for: a phone number, or a contact by its id. */
function readRecipient(body: Body): { readonly to: string; readonly field: 'phone' | 'contact_id' } {
  const id = body.has('phone', 'phone_number') ? undefined : body.id('contact_id');
  if (id != null) return { to: contactGlobalId(id), field: 'contact_id' };
  if (body.has('contact_id') && !body.has('phone', 'phone_number')) return { to: '', field: 'contact_id' };
  return { to: body.requiredText('phone', 'phone_number'), field: 'phone' };
}

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
