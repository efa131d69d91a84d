import type { builder } from '../../builder.ts';
import { optionalInputId } from '../../global-ids.ts';
import { ContactDetailsInput } from '../contacts/inputs.ts';
import type { SendInput } from './send.ts';

type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

/** How something is sent, whatever it is. */
export const deliveryFields = (t: InputFields) => ({
  channelId: t.id({ description: 'The channel to send from; the default one when nothing is said.' }),
  waitForAcceptance: t.boolean({
    description: 'Answer when the network took the message (5 seconds at most), not as soon as it is stored.',
  }),
  idempotencyKey: t.string({
    description: 'Makes a repeated request the same one for 24 hours. At most 255 characters.',
  }),
});

/** The fields that the inputs of all sends of messages have. */
export const sendFields = (t: InputFields) => ({
  ...deliveryFields(t),
  to: t.string({
    required: true,
    description:
      'A phone number in international format, or the global id of a contact. A number that nobody has becomes a new contact.',
  }),
  contact: t.field({
    type: ContactDetailsInput,
    description: 'What is known of the person, used when the contact is new.',
  }),
});

/** As `sendFields`, for what needs an open service window. */
export const freeFormFields = (t: InputFields) => ({
  ...sendFields(t),
  requireOpenWindow: t.boolean({
    description:
      'Refuse outside the 24-hour service window (true) or let the network decide (false), whatever the tenant has set.',
  }),
});

/** The input of a mutation as its verb takes it: ids read. */
export const sendInputOf = <Input extends { readonly channelId?: string | null | undefined }>(
  input: Input,
): Omit<Input, 'channelId'> & Pick<SendInput, 'channelId'> => ({
  ...input,
  channelId: optionalInputId('Channel', input.channelId ?? undefined, 'channelId'),
});
