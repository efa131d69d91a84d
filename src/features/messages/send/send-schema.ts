import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { mutation, payloadOf, type Result } from '../../../schema/payload.ts';
import { userErrorsOf } from '../../../schema/user-errors.ts';
import { ContactDetailsInput } from '../../contacts/inputs.ts';
import type { MessageRow } from '../message.ts';
import { ScheduledAtInput } from '../scheduling/input-schema.ts';
import { Message } from '../schema.ts';
import { ContentInput } from './content-schema.ts';
import './errors-schema.ts';
import type { SendMessageInput } from './message-parts.ts';
import { MessageFailed } from './outcome.ts';
import { MAX_ECHO_ID } from './request.ts';
import { sendMessage } from './send-message.ts';

const RecipientInput = builder.inputType('RecipientInput', {
  description: 'The recipient of a message.',
  isOneOf: true,
  fields: t => ({
    phone: t.string({
      description: 'Phone number in international format. An unknown number creates a contact.',
    }),
    contactId: t.id({ description: 'Global id or databaseId of a contact.' }),
    conversationId: t.id({
      description: "Global id or databaseId of a conversation. The message is sent from the conversation's channel.",
    }),
    userId: t.string({
      description: 'Business-scoped user id of a known person, for example `DE.13491208655302741918`.',
    }),
  }),
});

export const SendMessage = builder.inputRef<SendMessageInput>('SendMessageInput').implement({
  description: 'A message to one recipient.',
  fields: t => ({
    to: t.field({ type: RecipientInput, required: true, description: 'The recipient.' }),
    content: t.field({ type: ContentInput, required: true, description: 'What to send.' }),
    channelId: t.id({
      description:
        "Global id or databaseId of the channel to send from. Default: the channel of the conversation or upload, else the tenant's default channel.",
    }),
    contact: t.field({
      type: ContactDetailsInput,
      description: 'Details of the contact, used only if it is created.',
    }),
    expectedContactId: t.id({
      description:
        'Global id or databaseId of the contact to whom the phone number must belong. A mismatch is an error of both fields.',
    }),
    requireOpenWindow: t.boolean({
      description:
        "For free-form content: if true, refuses the message outside the 24-hour service window; if false, sends it regardless. Default: the tenant's setting (`Tenant.windowPolicy`). Templates need no window.",
    }),
    waitForAcceptance: t.boolean({
      required: true,
      defaultValue: false,
      description:
        'If true, waits up to 5 seconds for the network to accept the message; a refusal is then the error MESSAGE_SEND_FAILED. If false, returns as soon as the message is stored.',
    }),
    scheduledAt: t.field({
      type: ScheduledAtInput,
      description:
        'When to send it; default: now. Consent, service window and plan are checked now and then. It counts in the month in which it is sent.',
    }),
    replyToId: t.id({
      description:
        'Global id or databaseId of a message of the same conversation, which the person sees quoted above this one. Default for `channelId`: its channel.',
    }),
    expectedLastMessageId: t.id({
      description:
        'Global id or databaseId of the last message of the conversation that the sender knows, by `createdAt`. If somebody else (a colleague, a bot, a campaign) has answered or scheduled an answer after it, nothing is sent, with a ConflictError whose `current` is that message.',
    }),
    echoId: t.string({
      description: `The client's own key of the message, at most ${MAX_ECHO_ID} characters. It is returned with the message and its events, and need not be unique.`,
    }),
    idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
  }),
});

export const MessagePayload = payloadOf<{ message: MessageRow }>(
  'MessagePayload',
  'Result of a mutation of a Message.',
  t => ({
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message. With MESSAGE_SEND_FAILED it is the message that failed.',
      resolve: ({ message }) => message ?? null,
    }),
    contactCreated: t.boolean({
      nullable: true,
      description: 'Whether the send created the contact; null if nothing was sent.',
      resolve: ({ message }) => message?.contact_created ?? null,
    }),
  }),
);

mutation('sendMessage', {
  description:
    'Sends a message. What is returned is stored durably and will be sent. A one-time code is stored encrypted until it is sent, and shown as `••••••`. The choice of an interactive message arrives as an inbound message with `replyTo`.',
  scope: 'messages:send',
  input: SendMessage,
  payload: MessagePayload,
  resolve: (input, context) => withFailed(sendMessage(context, input)),
});

/** The payload of a send. If the message failed while its sender waited, it has the message and the error. */
export async function withFailed(sending: Promise<MessageRow>): Promise<Result<{ message: MessageRow }>> {
  try {
    return { message: await sending };
  } catch (error) {
    if (!(error instanceof MessageFailed)) throw error;
    return { message: error.row, userErrors: userErrorsOf(error) ?? [] };
  }
}
