import { optionalInputId } from '../../../core/global-ids.ts';
import { type builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { ContactDetailsInput } from '../../contacts/inputs.ts';
import type { SendInput } from './send.ts';

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

/** Input fields of all mutations that send. */
export const deliveryFields = (t: InputFields) => ({
  contactId: t.id({
    description:
      'Global id or databaseId of the contact to whom the phone number must belong. A mismatch is a VALIDATION_ERROR of both fields.',
  }),
  channelId: t.id({
    description: "Global id or databaseId of the channel to send from. Default: the tenant's default channel.",
  }),
  waitForAcceptance: t.boolean({
    description:
      'If true, waits up to 5 seconds for the network to accept the message; a refusal is then the error MESSAGE_SEND_FAILED. If false, returns as soon as the message is stored.',
  }),
  idempotencyKey: t.string({
    description: IDEMPOTENCY_KEY,
  }),
});

/** Input fields of all mutations that send to one recipient. */
export const sendFields = (t: InputFields) => ({
  ...deliveryFields(t),
  to: t.string({
    required: true,
    description:
      'Phone number in international format, or global id of a contact. An unknown number creates a contact.',
  }),
  contact: t.field({
    type: ContactDetailsInput,
    description: 'Details of the contact, used only if it is created.',
  }),
});

/** Like `sendFields`, for content that needs an open service window. */
export const freeFormFields = (t: InputFields) => ({
  ...sendFields(t),
  requireOpenWindow: t.boolean({
    description:
      "If true, refuses the message outside the 24-hour service window; if false, sends it regardless. Default: the tenant's setting (`Tenant.windowPolicy`).",
  }),
});

/** Converts the global ids of a mutation's input. */
export const sendInputOf = <
  Input extends { readonly channelId?: string | null | undefined; readonly contactId?: string | null | undefined },
>(
  input: Input,
): Omit<Input, 'channelId' | 'contactId'> & Pick<SendInput, 'channelId' | 'contactId'> => ({
  ...input,
  contactId: optionalInputId('Contact', input.contactId ?? undefined, 'contactId'),
  channelId: optionalInputId('Channel', input.channelId ?? undefined, 'channelId'),
});
