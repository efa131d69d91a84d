import { builder, IDEMPOTENCY_KEY } from '../../../schema/builder.ts';
import { mutation, payloadOf } from '../../../schema/payload.ts';
import { UserError } from '../../../schema/user-errors.ts';
import { BatchOutcome, BatchPolicy, BatchSummary } from '../../contacts/batch-schema.ts';
import { Message } from '../schema.ts';
import { MAX_ACCEPTED } from './accept-messages.ts';
import { type MessageBatch, type MessageResult, sendMessages } from './send-messages.ts';
import { SendMessage } from './send-schema.ts';

const MessageResultType = builder.objectRef<MessageResult>('MessageResult').implement({
  description: 'Outcome of one message of a batch.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position of the message in the input, from 0.' }),
    outcome: t.expose('outcome', {
      type: BatchOutcome,
      description: 'CREATED, FAILED or ROLLED_BACK.',
    }),
    message: t.expose('message', {
      type: Message,
      nullable: true,
      description: 'The accepted message; null if nothing was written, or it was deleted since.',
    }),
    contactCreated: t.boolean({
      nullable: true,
      description: 'Whether the send created the contact; null if nothing was sent.',
      resolve: ({ message }) => message?.contact_created ?? null,
    }),
    userErrors: t.field({
      type: [UserError],
      description: 'Why it was not accepted.',
      resolve: ({ userErrors }) => [...userErrors],
    }),
  }),
});

const MessageBatchPayload = payloadOf<MessageBatch>('MessageBatchPayload', 'Result of a batch of messages.', t => ({
  summary: t.field({
    type: BatchSummary,
    nullable: true,
    description: 'Number of messages by outcome; null if the input as a whole was refused.',
    resolve: ({ results, isRolledBack = false }) => results && { results, isRolledBack },
  }),
  results: t.field({
    type: [MessageResultType],
    description: 'Outcome of each message, in the order of the input.',
    args: { outcomes: t.arg({ type: [BatchOutcome], description: 'Returns only messages with these outcomes.' }) },
    resolve: ({ results = [] }, { outcomes }) =>
      outcomes ? results.filter(({ outcome }) => outcomes.includes(outcome)) : [...results],
  }),
}));

mutation('sendMessages', {
  description:
    'Sends up to 500 messages, each with an outcome. `waitForAcceptance` of a message has no effect. With `idempotencyKey`, a repetition returns the first result, and after a crash it accepts what is missing; a message may have an `idempotencyKey` of its own.',
  scope: 'messages:send',
  input: builder.inputType('SendMessagesInput', {
    description: 'Messages to send.',
    fields: t => ({
      messages: t.field({ type: [SendMessage], required: true, description: `1 to ${MAX_ACCEPTED} messages.` }),
      onError: t.field({
        type: BatchPolicy,
        required: true,
        defaultValue: 'continue',
        description: 'What to do when a message has an error.',
      }),
      isDryRun: t.boolean({
        required: true,
        defaultValue: false,
        description:
          'Returns the outcomes that the batch would have, apart from limits of the plan, and writes nothing.',
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: MessageBatchPayload,
  resolve: (input, context) => sendMessages(context, input),
});
