import { optionalInputId } from '../../core/global-ids.ts';
import { tenantOf, type WithPrincipal } from '../../core/principal.ts';
import { type builder, IDEMPOTENCY_KEY } from '../../schema/builder.ts';
import type { SendInput } from '../messages/send/request.ts';

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

/** Input fields of `sendOtp` and `resendOtp` that concern the delivery of the code. */
export const otpDeliveryFields = (t: InputFields) => ({
  contactId: t.id({
    description:
      'Global id or databaseId of the contact to whom the phone number must belong. A mismatch is a VALIDATION_ERROR of both fields.',
  }),
  channelId: t.id({
    description: "Global id or databaseId of the channel to send from. Default: the tenant's default channel.",
  }),
  waitForAcceptance: t.boolean({
    required: true,
    defaultValue: false,
    description:
      'If true, waits up to 5 seconds for the network to accept the message; a refusal is then the error MESSAGE_SEND_FAILED. If false, returns as soon as the message is stored.',
  }),
  idempotencyKey: t.string({
    description: IDEMPOTENCY_KEY,
  }),
});

/** The input with ids of the database. @throws VALIDATION_ERROR on contactId or channelId */
export const sendInputOf = <
  Input extends { readonly channelId?: string | null | undefined; readonly contactId?: string | null | undefined },
>(
  context: WithPrincipal,
  input: Input,
): Omit<Input, 'channelId' | 'contactId'> & Pick<SendInput, 'channelId' | 'contactId'> => ({
  ...input,
  contactId: optionalInputId(tenantOf(context), 'Contact', input.contactId ?? undefined, 'contactId'),
  channelId: optionalInputId(tenantOf(context), 'Channel', input.channelId ?? undefined, 'channelId'),
});
