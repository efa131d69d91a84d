import { requireUuid } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { mutation } from '../../../schema/payload.ts';
import { reactTo } from './react.ts';
import { MAX_ECHO_ID } from './request.ts';
import { retryMessage } from './retry.ts';
import { MessagePayload, withFailed } from './send-schema.ts';

mutation('retryMessage', {
  description:
    'Sends a message that failed or was cancelled again, as a new message with the same content, recipient and channel (`Message.retryOf`). Each message is sent again once: a repetition returns the first retry. Refused with a ConflictError if the message may have arrived, and with a RetryError while it may still arrive, or while the network asks to wait.',
  scope: 'messages:send',
  input: builder.inputType('RetryMessageInput', {
    description: 'The message to send again.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the message.' }),
      echoId: t.string({
        description: `The client's own key of the new message, at most ${MAX_ECHO_ID} characters.`,
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: MessagePayload,
  resolve: ({ id, ...options }, context) =>
    withFailed(retryMessage(context, requireUuid(tenantOf(context), 'Message', id), options)),
});

mutation('reactToMessage', {
  description:
    'Reacts to a message with an emoji, as the business. The reaction replaces an earlier one and is sent to the person like any free-form message; `Message.reactions` has it once the network has accepted it (event MESSAGE_REACTION). Returns the message that is reacted to.',
  scope: 'messages:send',
  input: builder.inputType('ReactToMessageInput', {
    description: 'A reaction to a message.',
    fields: t => ({
      id: t.id({ required: true, description: 'Global id or databaseId of the message.' }),
      emoji: t.string({ required: true, description: 'One emoji; empty: removes the reaction.' }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: MessagePayload,
  resolve: ({ id, ...reaction }, context) =>
    withFailed(reactTo(context, requireUuid(tenantOf(context), 'Message', id), reaction)),
});
