import { type Body, said } from '../body.ts';
import { type Route, route } from '../route.ts';
import { time } from '../wire-time.ts';
import { contactDetails, contactGroups } from './contact-row.ts';
import { SendTextDocument } from './documents.generated.ts';

/** The global id by which GraphQL tells a contact from a phone number. */
const contactGlobalId = (id: string): string => Buffer.from(`Contact:${id}`).toString('base64url');

/** Whom a send is for: a phone number, or a contact by its id. */
function readRecipient(body: Body): { readonly to: string; readonly field: 'phone' | 'contact_id' } {
  const id = body.has('phone', 'phone_number') ? undefined : body.id('contact_id');
  if (id != null) return { to: contactGlobalId(id), field: 'contact_id' };
  if (body.has('contact_id') && !body.has('phone', 'phone_number')) return { to: '', field: 'contact_id' };
  return { to: body.requiredText('phone', 'phone_number'), field: 'phone' };
}

export const sendRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/messages/text',
    document: SendTextDocument,
    plan: call => {
      const body = call.body();
      const recipient = readRecipient(body);
      const previewUrl = body.flag('preview_url') ?? false;
      const person = body.object('contact');
      const contact = person && { ...contactDetails(person, 'country'), ...contactGroups(person) };
      const input = said({
        to: recipient.to,
        text: body.requiredText('message', 'text', 'body'),
        previewUrl,
        contact,
        waitForAcceptance: !call.prefersAsync,
        idempotencyKey: call.idempotencyKey,
      });
      return {
        variables: { input },
        names: { to: recipient.field, 'contact.countryId': 'contact.country' },
        respond: ({ message }) => ({
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
            message: message.message,
            preview_url: previewUrl,
            service_window: { open: message.service_window.open, expires_at: time(message.service_window.expires_at) },
          },
        }),
      };
    },
  }),
];
