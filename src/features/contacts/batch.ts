import type { Fault } from '../../core/errors.ts';
import type { Context } from '../../schema/context.ts';
import { type UserErrorShape, userErrorsOf } from '../../schema/user-errors.ts';
import { type Keyed, once } from '../tenancy/idempotency/once.ts';
import type { ContactRow } from './contact.ts';
import { findContacts } from './store.ts';

export const MAX_BATCH = 1_000;

export type Outcome = 'created' | 'updated' | 'deleted' | 'skipped' | 'failed' | 'rolled_back';

/** Outcome of one row. */
export interface BatchResult {
  /** Its place in the input, from 0. */
  readonly index: number;
  readonly outcome: Outcome;
  /** Null unless the batch created, changed or found it. */
  readonly contact: ContactRow | null;
  readonly userErrors: readonly UserErrorShape[];
}

export interface Batch {
  /** In the order of the input. */
  readonly results: readonly BatchResult[];
  /** Ids of contacts that were deleted. */
  readonly deletedIds: readonly number[];
  /** Whether an error undid the whole batch. */
  readonly isRolledBack: boolean;
}

/** How a batch treats errors. */
export interface BatchOptions {
  readonly onError?: 'continue' | 'roll_back' | null | undefined;
  /** Nothing is written; the outcomes are those that the batch would have. */
  readonly isDryRun?: boolean | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Thrown to undo the transaction of a batch; carries its result. */
class Undone extends Error {
  readonly batch: Batch;

  constructor(batch: Batch) {
    super('The batch was undone.');
    this.batch = batch;
  }
}

/** The faults of a row, below the input. @param path of the row */
export const faultsAt = (faults: readonly Fault[], path: readonly string[]): UserErrorShape[] =>
  faults.map(({ code, message, field }) => ({ code, message, path: [...path, ...field.split('.')], details: {} }));

/** The user errors of a refusal, below the row. @throws the error if a user cannot act on it */
export function refusalAt(error: unknown, path: readonly string[]): UserErrorShape[] {
  const userErrors = userErrorsOf(error);
  if (!userErrors) throw error;
  return userErrors.map(one => ({ ...one, path: [...path, ...one.path] }));
}

/**
 * The result of a batch whose rows are known: the same, or everything undone after an error.
 * @param path the list in the input
 * @throws Undone, which `runBatch` catches, to undo the transaction
 */
export function settle(results: readonly BatchResult[], { onError, isDryRun }: BatchOptions, path: string): Batch {
  const isRolledBack = onError === 'roll_back' && results.some(({ outcome }) => outcome === 'failed');
  const shown = isRolledBack ? results.map(result => undo(result, path)) : results;
  const deletedIds = shown.flatMap(({ outcome, contact }) => (outcome === 'deleted' && contact ? contact.id : []));
  if (isRolledBack || isDryRun)
    throw new Undone({ results: shown.map(withoutUnwritten), deletedIds: [], isRolledBack });
  return { results: shown, deletedIds, isRolledBack };
}

/** The error of a row that was undone, without its path. */
export const ROLLED_BACK = {
  code: 'ROLLED_BACK',
  message: 'Not written, because another row of the batch has an error.',
  details: {},
} as const;

function undo(result: BatchResult, path: string): BatchResult {
  if (result.outcome === 'failed' || result.outcome === 'skipped') return result;
  const error = { ...ROLLED_BACK, path: [path, String(result.index)] };
  return { ...result, outcome: 'rolled_back', userErrors: [error] };
}

/** Result after a rollback: without created contacts, and with changed ones as before. */
const withoutUnwritten = (result: BatchResult): BatchResult => ({ ...result, contact: null });

/** A result as an idempotency key stores it. `created` is where an erasure looks for the ids of contacts. */
interface Stored {
  readonly created: readonly { readonly id: number }[];
  readonly results: readonly (Omit<BatchResult, 'contact'> & { readonly id: number | null })[];
}

/** Runs a batch in one transaction, once per idempotency key. The key is stored only if something was written. */
export async function runBatch(
  context: Context,
  tenantId: number,
  keyed: Keyed,
  run: Parameters<typeof once<Batch>>[2]['run'],
) {
  try {
    const batch = await once<Batch>(context, keyed, {
      run,
      store: ({ results }) => ({
        created: results.flatMap(({ contact }) => (contact ? { id: contact.id } : [])),
        results: results.map(({ contact, ...result }) => ({ ...result, id: contact?.id ?? null })),
      }),
      rebuild: async stored => repeated(context, tenantId, stored as Stored),
    });
    context.signals.send('events');
    return batch;
  } catch (error) {
    if (error instanceof Undone) return error.batch;
    throw error;
  }
}

async function repeated(context: Context, tenantId: number, { created, results }: Stored): Promise<Batch> {
  const rows = await findContacts(
    context.db.write,
    tenantId,
    created.map(({ id }) => id),
  );
  return {
    results: results.map(({ id, ...result }) => ({ ...result, contact: (id !== null && rows.get(id)) || null })),
    deletedIds: [],
    isRolledBack: false,
  };
}
