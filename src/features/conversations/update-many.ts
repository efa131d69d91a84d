import { CodedError, conflict, FieldErrorList, invalid } from '../../core/errors.ts';
import { type Filter, refuseNullConditions } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import type { Context } from '../../schema/context.ts';
import type { UserErrorShape } from '../../schema/user-errors.ts';
import { once } from '../tenancy/idempotency/once.ts';
import { lockConversations } from './change.sql.ts';
import { applyChange, type ConversationChange, checkChange } from './change.ts';
import type { PublicConversation } from './conversation.ts';
import { CONVERSATION_JOBS, type JobRow } from './jobs/job.ts';
import { countOpenJobs, getJobs, insertJob } from './jobs/store.ts';
import { checkContactFilter } from './list.ts';
import { currentIds, getConversations } from './state.sql.ts';
import { patchFault } from './transition.ts';
import { countMatching, lockMatching } from './update-many.sql.ts';

/** Conversations that one request changes at once. */
export const MAX_CONVERSATIONS = 500;
const MAX_JOBS = 20;

export type ConversationTarget =
  /** Keys; -1 for text that is no id. */
  { readonly ids: readonly number[] } | { readonly filter: Filter };

export interface UpdateConversations {
  readonly target: ConversationTarget;
  readonly set: ConversationChange;
  readonly onError: 'continue' | 'roll_back';
  readonly idempotencyKey?: string | null | undefined;
}

/** Outcome for one conversation. */
export interface ConversationResult {
  /** Place in the input; of a filter: in the order of ids. */
  readonly index: number;
  readonly outcome: 'updated' | 'failed' | 'rolled_back';
  readonly conversation: PublicConversation | null;
  readonly userErrors: readonly UserErrorShape[];
}

export interface ConversationBatch {
  readonly results: readonly ConversationResult[];
  readonly isRolledBack: boolean;
  readonly matchedCount: number;
  /** The job that changes them, if they are too many for one transaction. */
  readonly job: JobRow | null;
}

/** Thrown to end the transaction of a batch that writes nothing, so that its idempotency key stores nothing. */
class RolledBack extends Error {
  readonly batch: ConversationBatch;

  constructor(batch: ConversationBatch) {
    super('The batch was rolled back.');
    this.batch = batch;
  }
}

/**
 * Changes status, assignee and tags of conversations. Up to 500 are changed in one transaction; a filter that matches more becomes a
 * job.
 * @throws VALIDATION_ERROR; CONFLICT if too many jobs wait
 */
export async function updateConversations(context: Context, input: UpdateConversations): Promise<ConversationBatch> {
  const { target } = input;
  if ('ids' in target) checkCount(target.ids);
  else {
    const errors = new FieldErrorList();
    refuseNullConditions(target.filter, 'target.filter', errors);
    errors.throwIfAny();
    checkContactFilter(context, target.filter);
  }
  const batch = await run(context, input);
  context.signals.send('events');
  if (batch.job) context.lanes.wake(CONVERSATION_JOBS, String(tenantOf(context)));
  return batch;
}

function checkCount(ids: readonly number[]): void {
  const errors = new FieldErrorList();
  const message = `Takes 1 to ${MAX_CONVERSATIONS} ids; a filter takes more.`;
  if (ids.length === 0) errors.add('target.ids', message, 'REQUIRED');
  if (ids.length > MAX_CONVERSATIONS) errors.add('target.ids', message, 'TOO_MANY');
  errors.throwIfAny();
}

interface Stored {
  readonly results: readonly (Omit<ConversationResult, 'conversation'> & { readonly id: number | null })[];
  readonly matchedCount: number;
  readonly jobId: number | null;
}

async function run(context: Context, input: UpdateConversations): Promise<ConversationBatch> {
  const tenantId = tenantOf(context);
  const { target, set, onError, idempotencyKey: key } = input;
  try {
    return await once<ConversationBatch>(
      context,
      { operation: 'updateConversations', key, input: { target, set, onError } },
      {
        run: async trx => {
          await checkChange(context, set, 'set.');
          if ('ids' in target) {
            const ids = await currentIds(trx, tenantId, target.ids);
            return changeNow(context, trx, ids, input, index => ['target', 'ids', `${index}`]);
          }
          const range = { afterId: 0, maxId: Number.MAX_SAFE_INTEGER, limit: MAX_CONVERSATIONS + 1 };
          const ids = await lockMatching(trx, tenantId, target.filter, range).catch(belowTarget);
          return ids.length > MAX_CONVERSATIONS
            ? queue(trx, tenantId, target.filter, input)
            : changeNow(context, trx, ids, input, () => ['target', 'filter']);
        },
        store: ({ results, matchedCount, job }): Stored => ({
          results: results.map(({ conversation, ...result }) => ({ ...result, id: conversation?.id ?? null })),
          matchedCount,
          jobId: job?.id ?? null,
        }),
        rebuild: async stored => repeated(context, stored as Stored),
      },
    );
  } catch (error) {
    if (error instanceof RolledBack) return error.batch;
    throw error;
  }
}

/** Reports faults of a filter under its path in the input. */
function belowTarget(error: unknown): never {
  if (!(error instanceof CodedError) || error.faults.length === 0) throw error;
  const errors = new FieldErrorList();
  for (const { field, message, code } of error.faults) errors.add(`target.${field}`, message, code);
  throw errors.toError();
}

async function queue(
  trx: Db,
  tenantId: number,
  filter: Filter,
  { set, onError }: UpdateConversations,
): Promise<ConversationBatch> {
  if (onError === 'roll_back')
    throw invalid(
      { onError: [`ROLL_BACK takes at most ${MAX_CONVERSATIONS} conversations, and the filter matches more.`] },
      'TOO_MANY',
    );
  if ((await countOpenJobs(trx, tenantId)) >= MAX_JOBS)
    throw conflict(`${MAX_JOBS} updates of conversations are not finished yet. Try again later.`);
  const matchedCount = await countMatching(trx, tenantId, filter);
  return {
    results: [],
    isRolledBack: false,
    matchedCount,
    job: await insertJob(trx, tenantId, { filter, change: set, matchedCount }),
  };
}

async function changeNow(
  context: Context,
  trx: Db,
  ids: readonly number[],
  { set, onError }: UpdateConversations,
  pathOf: (index: number) => readonly string[],
): Promise<ConversationBatch> {
  const tenantId = tenantOf(context);
  const locked = new Map((await lockConversations(trx, tenantId, ids)).map(row => [row.id, row]));
  const faults = ids.map((id, index) => faultOf(locked.get(id), set, pathOf(index), context.clock.now()));
  const matchedCount = locked.size;
  if (onError === 'roll_back' && faults.some(Boolean)) {
    const results = faults.map(
      (fault, index): ConversationResult => ({
        index,
        outcome: fault ? 'failed' : 'rolled_back',
        conversation: null,
        userErrors: [fault ?? rolledBack(pathOf(index))],
      }),
    );
    throw new RolledBack({ results, isRolledBack: true, matchedCount, job: null });
  }
  const sound = [...locked.values()].filter(row => !faults[ids.indexOf(row.id)]);
  const after = new Map((await applyChange(trx, tenantId, sound, set, context.clock.now())).map(row => [row.id, row]));
  return {
    results: ids.map((id, index) => {
      const fault = faults[index];
      return {
        index,
        outcome: fault ? 'failed' : 'updated',
        conversation: after.get(id) ?? null,
        userErrors: fault ? [fault] : [],
      };
    }),
    isRolledBack: false,
    matchedCount,
    job: null,
  };
}

/** Why a conversation cannot be changed; undefined if it can. */
function faultOf(
  row: PublicConversation | undefined,
  set: ConversationChange,
  path: readonly string[],
  nowMs: number,
): UserErrorShape | undefined {
  if (!row) return { code: 'NOT_FOUND', message: 'Conversation not found.', path, details: {} };
  const [message] = patchFault(set, row, nowMs)?.snoozedUntil ?? [];
  return message === undefined ? undefined : { code: 'SURPLUS', message, path, details: {} };
}

const rolledBack = (path: readonly string[]): UserErrorShape => ({
  code: 'ROLLED_BACK',
  message: 'Not written, because another row of the batch has an error.',
  path,
  details: {},
});

async function repeated(context: Context, { results, matchedCount, jobId }: Stored): Promise<ConversationBatch> {
  const tenantId = tenantOf(context);
  const ids = results.flatMap(({ id }) => id ?? []);
  const rows = new Map((await getConversations(context.db.write, tenantId, ids)).map(row => [row.id, row]));
  const [job] = jobId === null ? [] : await getJobs(context.db.write, tenantId, [jobId]);
  return {
    results: results.map(({ id, ...result }) => ({ ...result, conversation: (id !== null && rows.get(id)) || null })),
    isRolledBack: false,
    matchedCount,
    job: job ?? null,
  };
}
