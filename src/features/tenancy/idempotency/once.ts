import { stringify } from 'safe-stable-stringify';
import { CodedError, conflict, invalid, notFound } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { retryDeadlocks } from '../../../database/retry-deadlocks.ts';
import { sha256 } from '../../../platform/crypto.ts';
import type { Context, Resources } from '../../../schema/context.ts';
import { keyFaults } from '../../../schema/idempotency-key.ts';
import { isRunning, markRunning } from './running.ts';
import { claimKey, findKey, type KeyRow, settleKey } from './store.ts';

/** Identifies a request. */
export interface Keyed {
  /** The mutation's name. */
  readonly operation: string;
  readonly key: string | null | undefined;
  /** The mutation's input; the key itself is left out of the comparison. */
  readonly input: unknown;
}

/** An input that may have an idempotency key. */
export type WithKey<Input = unknown> = Input & { readonly idempotencyKey?: string | null | undefined };

export interface Effect<Result> {
  /** Does the work in one transaction. Must be repeatable: it runs again if PostgreSQL aborts the transaction to resolve a deadlock. */
  run(trx: Db): Promise<Result>;
  /** Data from which the result is rebuilt: ids, or a small result itself. */
  store(result: Result): unknown;
  /** The contact, if any, whose erasure makes the key answer NOT_FOUND. */
  contactId?(result: Result): number | null;
  /** Rebuilds the result from what was stored `ageSeconds` ago by the database's clock. */
  rebuild(stored: unknown, ageSeconds: number): Promise<Result>;
}

/** Keyed with a server secret: a plain hash would reveal an input whose only unknown part is a short code. */
export const fingerprintOf = ({ secrets }: Pick<Resources, 'secrets'>, keyed: Keyed): Buffer =>
  secrets.shortLivedMac(LABEL, textOf(keyed));

const LABEL = 'idempotency';
/** Not part of the request: the key itself, and the time of the last change, which REST reads anew for a repeated request. */
const UNCOMPARED: ReadonlySet<string> = new Set(['idempotencyKey', 'unchangedSince']);
const withoutKey = (name: string, value: unknown): unknown => (UNCOMPARED.has(name) ? undefined : value);
const textOf = ({ operation, input }: Keyed): string => `${operation} ${stringify(input, withoutKey)}`;

/**
 * Runs a mutation in a transaction, once per idempotency key. The key is claimed in the same transaction as the effect, so that
 * neither exists without the other, and a concurrent request waits for the first one's outcome.
 *
 * @throws IDEMPOTENCY_MISMATCH for the same key with another input, CONFLICT while the first request has not stored its response
 * yet
 */
export async function once<Result>(context: Context, keyed: Keyed, effect: Effect<Result>): Promise<Result> {
  const key = keyOf(keyed);
  const transaction = <Value>(work: (trx: Db) => Promise<Value>) => retryDeadlocks(() => context.db.transaction(work));
  if (key === undefined) return transaction(trx => effect.run(trx));
  const tenantId = tenantOf(context);
  const fingerprint = fingerprintOf(context, keyed);
  const outcome = await transaction(async trx => {
    if (!(await claimKey(trx, tenantId, key, keyed.operation, fingerprint))) return undefined;
    await markAnswering(context, key);
    const result = await effect.run(trx);
    await settleKey(trx, tenantId, key, effect.store(result), effect.contactId?.(result) ?? null);
    return { result };
  });
  if (outcome) {
    context.replay.key = key;
    return outcome.result;
  }
  const row = await findKey(context.db.write, tenantId, key);
  if (!row) throw conflict('The first request with this idempotency key has just expired. Try again.');
  return effect.rebuild(await replayOf(context, key, row, keyed), row.age);
}

/**
 * Like `once`, for work that begins with a call to the network: no transaction is open during the call, because that would hold up
 * the event log. Two requests with one key that run at the same time both call. If the network refuses the second call, the answer is
 * the first one's result if that is committed by then, else the refusal; a later repetition gets the result.
 */
export async function onceAfter<Called, Result>(
  context: Context,
  keyed: Keyed,
  call: () => Promise<Called>,
  effect: Omit<Effect<Result>, 'run'> & { run(trx: Db, called: Called): Promise<Result> },
): Promise<Result> {
  const key = keyOf(keyed);
  const first = (): Promise<KeyRow | undefined> | undefined =>
    key === undefined ? undefined : findKey(context.db.write, tenantOf(context), key);
  const repeated = async (row: KeyRow): Promise<Result> =>
    effect.rebuild(await replayOf(context, key ?? '', row, keyed), row.age);
  const known = await first();
  if (known) return repeated(known);
  let called: Called;
  try {
    called = await call();
  } catch (error) {
    const meanwhile = await first();
    if (!meanwhile) throw error;
    return repeated(meanwhile);
  }
  return once(context, keyed, { ...effect, run: trx => effect.run(trx, called) });
}

/** Internal operations, whose keys the gateway generates itself. */
const INTERNAL_OPERATIONS: ReadonlySet<string> = new Set(['otp', 'integration']);

/**
 * Returns the stored form of a key: the SHA-256 of a client's, in hex, because clients put phone numbers and names into keys.
 * @throws VALIDATION_ERROR if the key is too long
 */
export function keyOf({ operation, key }: Pick<Keyed, 'operation' | 'key'>): string | undefined {
  if (key == null || key === '') return undefined;
  const [fault] = keyFaults(key);
  if (fault) throw invalid({ [fault.field]: [fault.message] }, fault.code);
  return INTERNAL_OPERATIONS.has(operation) ? key : sha256(key).toString('hex');
}

/** Marks that the request which claimed the key has yet to store its response; until then it counts as running. */
export async function markAnswering(context: Context, key: string, madeId?: string): Promise<void> {
  const { replay } = context;
  if (replay.wantsAnswer && !replay.end) replay.end = await markRunning(context, key, madeId);
}

/**
 * Returns the result of a key's first request. Marks the context as a replay.
 * @throws IDEMPOTENCY_MISMATCH; NOT_FOUND if its contact has been erased; CONFLICT while the first request runs, but not after it
 * has ended or its process has died
 */
export async function replayOf(context: Context, key: string, row: KeyRow, keyed: Keyed): Promise<unknown> {
  if (row.fingerprint.length === 0) throw notFound('Contact');
  if (row.operation !== keyed.operation || !context.secrets.isShortLivedMac(LABEL, textOf(keyed), row.fingerprint)) {
    throw new CodedError('IDEMPOTENCY_MISMATCH', 'This idempotency key was used for another request.');
  }
  let { answer } = row;
  if (context.replay.wantsAnswer && answer === null) {
    if (await isRunning(context, key, row.age, row.result)) {
      context.replay.isRunning = true;
      throw conflict('The first request with this idempotency key is still running.');
    }
    // It may have ended between the two reads.
    answer = (await findKey(context.db.write, tenantOf(context), key))?.answer ?? null;
  }
  context.replay.replayed = true;
  context.replay.answer = answer ?? undefined;
  return row.result;
}
