import { z } from 'zod';
import { type AnswerSchema, selectionOf } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { alias, country, dropUndefined, id, object, REQUIRED, text } from '../runtime/fields.ts';
import type { RouteResponse } from '../runtime/route.ts';
import { CONTACT_DETAILS, contactInput, GROUP_IDS } from '../wire/contact.ts';
import type { SentMessageFragment } from '../wire/documents.generated.ts';
import { SCHEDULED_AT, type Sent, scheduledInput, sentRow, sentText, wireStatus } from '../wire/sending.ts';
import { digitsOf, phoneOnly, rowKey, time } from '../wire/values.ts';

/** The recipient of a send: a phone number, a contact's id, or both, which must then belong together. */
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
  ...SCHEDULED_AT,
};

type Recipient = z.output<z.ZodObject<typeof RECIPIENT>>;

export function checkRecipient({ phone, contact_id }: Recipient, add: (field: string, message: string) => void): void {
  if (!phone && contact_id == null) add('phone', REQUIRED);
}

/** The part of the input that all sends have in common. */
export const sendingInput = (call: Call, recipient: Recipient) =>
  dropUndefined({
    ...messageInput(recipient),
    waitForAcceptance: !call.prefersAsync,
    idempotencyKey: call.idempotencyKey,
  });

/** The part of a message that does not depend on the request. */
export function messageInput({ phone, contact_id, contact, channel_id, scheduled_at }: Recipient) {
  const { country: countryId, groups, ...details } = contact ?? {};
  return dropUndefined({
    to: phone ? { phone: phoneOnly(phone) } : { contactId: contact_id ?? '' },
    expectedContactId: phone ? (contact_id ?? undefined) : undefined,
    channelId: channel_id,
    scheduledAt: scheduledInput(scheduled_at),
    contact: contact ? dropUndefined({ ...contactInput(details, countryId), groupIds: groups }) : undefined,
  });
}

/** Names of the recipient's fields in errors. */
export const SENDING_NAMES = {
  'to.phone': 'phone',
  'to.contactId': 'contact_id',
  expectedContactId: 'contact_id',
  'scheduledAt.instant': 'scheduled_at',
  'contact.country': 'contact.country',
};

/** A sent message in REST. @param echo further fields, such as values of the request */
export const sentMessage = (message: SentMessageFragment, echo: object) => ({
  message_id: message.message_id,
  contact_id: rowKey(message.contact_id),
  phone: message.phone === null ? null : digitsOf(message.phone),
  status: wireStatus(message.status),
  sent_at: time(message.sent_at),
  chat_id: rowKey(message.chat_id),
  chat_message_id: message.chat_message_id,
  ...echo,
  service_window: { open: message.service_window.open, expires_at: time(message.service_window.expires_at) },
});

/** @param echo values of the request that the response repeats */
export function sentResponse<Row extends SentMessageFragment>(
  call: Call,
  { result }: Sent<Row>,
  echo: (message: Row) => object,
): RouteResponse {
  const message = sentRow(result);
  return {
    ...(call.prefersAsync && { status: 202, headers: { 'preference-applied': 'respond-async' } }),
    message: sentText(message),
    data: sentMessage(message, echo(message)),
  };
}

/** The schema of an answer to a send. @param without selected fields that are not answered */
export const sentSchema = (
  echo: Readonly<Record<string, AnswerSchema>>,
  without: readonly string[] = [],
): AnswerSchema =>
  selectionOf('result.row', {
    without,
    with: {
      phone: z
        .string()
        .nullable()
        .meta({ description: 'Phone number without its `+`.', examples: ['14155550123'] }),
      ...echo,
    },
  });
