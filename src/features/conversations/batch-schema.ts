import { parseId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { builder, IDEMPOTENCY_KEY } from '../../schema/builder.ts';
import type { Context } from '../../schema/context.ts';
import { databaseId } from '../../schema/database-id.ts';
import { findByNumber, nodesByNumber } from '../../schema/nodes.ts';
import { oneOf } from '../../schema/one-of.ts';
import { mutation, payloadOf } from '../../schema/payload.ts';
import { UserError } from '../../schema/user-errors.ts';
import { BatchOutcome, BatchPolicy, BatchSummary } from '../contacts/batch-schema.ts';
import { ConversationFilter, ConversationInput } from './inputs.ts';
import type { JobRow } from './jobs/job.ts';
import { getJobs } from './jobs/store.ts';
import { Conversation, changeOf } from './schema.ts';
import {
  type ConversationBatch,
  type ConversationResult,
  type ConversationTarget,
  MAX_CONVERSATIONS,
  updateConversations,
} from './update-many.ts';

const ConversationJob = builder.objectRef<JobRow>('ConversationJob');

builder.node(ConversationJob, {
  name: 'ConversationJob',
  description: `An update of more than ${MAX_CONVERSATIONS} conversations in the background. It is kept for 30 days.`,
  id: { resolve: job => job.id },
  brandLoadedObjects: true,
  loadManyWithoutCache: nodesByNumber('conversations:read', getJobs),
  fields: t => ({
    databaseId: databaseId(t),
    matchedCount: t.exposeInt('matched_count', { description: 'Conversations that matched when it was accepted.' }),
    updatedCount: t.exposeInt('updated_count', {
      description: 'Conversations that were updated so far. Those that do not match any more by then are left out.',
    }),
    failedCount: t.exposeInt('failed_count', {
      description: 'Conversations that could not be updated so far: a time for one that is not snoozed.',
    }),
    isFinished: t.boolean({
      description: 'Whether it is done, or was given up.',
      resolve: ({ finished_at }) => finished_at !== null,
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it was given up, or why its last batch is tried again; null if all went well.',
    }),
    createdAt: t.expose('created_at', { type: 'DateTime', description: 'When it was accepted.' }),
    updatedAt: t.expose('updated_at', { type: 'DateTime', description: 'Time of the last progress.' }),
    finishedAt: t.expose('finished_at', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was done or given up; null until then.',
    }),
  }),
});

builder.queryField('conversationJob', t =>
  t.field({
    type: ConversationJob,
    nullable: true,
    description: 'Returns an update of conversations in the background with its progress; null if there is none.',
    authScopes: { scope: 'conversations:read' },
    args: { id: t.arg.id({ required: true, description: 'Global id or databaseId of the job.' }) },
    resolve: (_root, { id }, context) => findByNumber(context, 'ConversationJob', id, getJobs),
  }),
);

const Result = builder.objectRef<ConversationResult>('ConversationResult').implement({
  description: 'What became of one conversation of a batch.',
  fields: t => ({
    index: t.exposeInt('index', { description: 'Position in the input, from 0; of a filter: in the order of ids.' }),
    outcome: t.expose('outcome', { type: BatchOutcome, description: 'What became of the conversation.' }),
    conversation: t.expose('conversation', {
      type: Conversation,
      nullable: true,
      description: 'The conversation after the mutation; null if it was not written.',
    }),
    userErrors: t.field({
      type: [UserError],
      description: 'Why it was not written.',
      resolve: ({ userErrors }) => [...userErrors],
    }),
  }),
});

const Payload = payloadOf<ConversationBatch>('ConversationBatchPayload', 'Result of a batch of conversations.', t => ({
  summary: t.field({
    type: BatchSummary,
    nullable: true,
    description: 'How many rows had which outcome; null if the input was refused, or is a job.',
    resolve: ({ results, isRolledBack = false, job }) => (results && !job ? { results, isRolledBack } : null),
  }),
  results: t.field({
    type: [Result],
    description: 'What became of each conversation; empty for a job.',
    args: { outcomes: t.arg({ type: [BatchOutcome], description: 'Returns only rows with these outcomes.' }) },
    resolve: ({ results = [] }, { outcomes }) =>
      outcomes ? results.filter(({ outcome }) => outcomes.includes(outcome)) : [...results],
  }),
  matchedCount: t.int({
    description: 'Number of conversations that exist of the ids, or that match the filter.',
    resolve: ({ matchedCount = 0 }) => matchedCount,
  }),
  isQueued: t.boolean({
    description: 'Whether they are updated in the background, because they are more than one request takes.',
    resolve: ({ job }) => job != null,
  }),
  job: t.field({
    type: ConversationJob,
    nullable: true,
    description: 'The update in the background; null if it is done.',
    authScopes: { scope: 'conversations:read' },
    resolve: ({ job }) => job ?? null,
  }),
}));

const Target = builder.inputType('ConversationsTarget', {
  description: 'Which conversations to update.',
  isOneOf: true,
  fields: t => ({
    ids: t.idList({
      description: `Global ids or databaseIds of 1 to ${MAX_CONVERSATIONS} conversations. To close none over a message that nobody has read, use \`filter: { id: { in: […] }, unreadCount: { eq: 0 } }\`.`,
    }),
    filter: t.field({
      type: ConversationFilter,
      description: `Conversations that match this filter. More than ${MAX_CONVERSATIONS} are updated in the background (\`isQueued\`).`,
    }),
  }),
});

function targetOf(context: Context, target: typeof Target.$inferInput): ConversationTarget {
  const { field, value } = oneOf(target, 'target');
  if (field === 'filter') return { filter: value };
  return { ids: value.map(id => parseId(tenantOf(context), 'Conversation', String(id)) ?? -1) };
}

mutation('updateConversations', {
  description:
    'Changes status, assignee and tags of many conversations: up to 500 in one transaction, more than that in the background.',
  scope: 'conversations:write',
  input: builder.inputType('UpdateConversationsInput', {
    description: 'Conversations, and the changes that all of them get.',
    fields: t => ({
      target: t.field({ type: Target, required: true, description: 'Which conversations.' }),
      set: t.field({
        type: ConversationInput,
        required: true,
        description: 'Changes that each of the conversations gets.',
      }),
      onError: t.field({
        type: BatchPolicy,
        required: true,
        defaultValue: 'continue',
        description: 'What to do when a conversation cannot be changed. ROLL_BACK is not possible in the background.',
      }),
      idempotencyKey: t.string({ description: IDEMPOTENCY_KEY }),
    }),
  }),
  payload: Payload,
  resolve: ({ target, set, onError, idempotencyKey }, context) =>
    updateConversations(context, {
      target: targetOf(context, target),
      set: changeOf(context, set, 'set.'),
      onError,
      idempotencyKey,
    }),
});
