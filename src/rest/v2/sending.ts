import { z } from 'zod';
import { encodeGlobalId } from '../../core/global-ids.ts';
import { type AnswerSchema, selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { alias, country, dropUndefined, id, object, REQUIRED, text } from '../runtime/fields.ts';
import type { Answer } from '../runtime/route.ts';
import { CONTACT_DETAILS, contactInput, GROUP_IDS } from '../wire/contact.ts';
import type { SentMessageFragment } from '../wire/documents.generated.ts';
import { sentStatus, sentText } from '../wire/sending.ts';
import { phoneOnly, time } from '../wire/values.ts';

/** The recipient of a send: a phone number, a contact's id, or both, which then have to agree. */
export const RECIPIENT = {
  phone: alias(
    text({
      description: 'Phone number in international format. An unknown number creates a contact.',
      examples: ['+14155550123'],
    }),
    'phone_number',
  ),
  contact_id: id({
    description: 'Id of the contact, instead of `phone`. With both, the number must belong to the contact.',
  }),
  contact: object({
    ...CONTACT_DETAILS,
    country: alias(
      country({
        type: ['integer', 'string'],
        description: 'ISO 3166-1 country code, numeric or of two letters, for example `840` or `US`.',
        examples: ['US'],
      }),
      'country_id',
    ),
    ...GROUP_IDS,
  }),
  channel_id: id(),
};

type Recipient = z.output<z.ZodObject<typeof RECIPIENT>>;

export function checkRecipient({ phone, contact_id }: Recipient, add: (field: string, message: string) => void): void {
  if (!phone && contact_id == null) add('phone', REQUIRED);
}

/** The part of the input that all sends have in common. */
export function sendingInput(call: Call, { phone, contact_id, contact, channel_id }: Recipient) {
  const { country: countryId, groups, ...details } = contact ?? {};
  return dropUndefined({
    ...(phone
      ? { to: phoneOnly(phone), contactId: contact_id ?? undefined }
      : { to: contact_id == null ? '' : encodeGlobalId('Contact', contact_id) }),
    channelId: channel_id,
    contact: contact ? dropUndefined({ ...contactInput(details, countryId), groupIds: groups }) : undefined,
    waitForAcceptance: !call.prefersAsync,
    idempotencyKey: call.idempotencyKey,
  });
}

/** Names of the recipient's fields in errors. */
export const sendingNames = ({ phone }: Recipient) => ({
  to: phone ? 'phone' : 'contact_id',
  'contact.countryId': 'contact.country',
});

/** @param echo the sent values, as the request wrote them */
export const sentAnswer = (call: Call, message: SentMessageFragment, echo: object): Answer => ({
  ...(call.prefersAsync && { status: 202, headers: { 'preference-applied': 'respond-async' } }),
  message: sentText(message),
  data: {
    message_id: message.message_id,
    contact_id: message.contact_id,
    phone: message.phone?.replace(/^\+/, '') ?? null,
    status: sentStatus(message),
    sent_at: time(message.sent_at),
    chat_id: message.chat_id,
    chat_message_id: message.chat_message_id,
    ...echo,
    service_window: { open: message.service_window.open, expires_at: time(message.service_window.expires_at) },
  },
});

/** The schema of an answer to a send. @param without selected fields that are not answered */
export const sentSchema = (
  echo: Readonly<Record<string, AnswerSchema>>,
  without: readonly string[] = [],
): AnswerSchema =>
  selectionOf('message', {
    without: ['contact_created', ...without],
    with: {
      phone: z
        .string()
        .nullable()
        .meta({ description: 'Phone number without its `+`.', examples: ['14155550123'] }),
      ...echo,
    },
  });
