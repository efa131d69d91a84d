import type { Context, Resources } from '../../context.ts';
import { CodedError, conflict, invalid } from '../../errors.ts';
import type { Db } from '../../platform/database.ts';
import { tenantOf } from '../caller.ts';
import { claimKey, findKey, type KeyRow, settleKey } from './store.ts';

/** What makes two requests the same one. */
export interface Keyed {
  /** The mutation's name. */
  readonly operation: string;
  readonly key: string | null | undefined;
  /** The mutation's input; the key itself is left out of the comparison. */
  readonly input: unknown;
}

export interface Effect<Result> {
  /** Does the work, in one transaction. */
  run(trx: Db): Promise<Result>;
  /** What has to be known to give the same result again: ids, or the whole of a small one. */
  store(result: Result): unknown;
  /** Gives the result again from what was stored. */
  again(stored: unknown): Promise<Result>;
}

/** For so long a REST request whose answer is not stored yet counts as still running. */
const RUNNING_SECONDS = 30;

/** Under a key of the server's: a bare hash would give away an input that differs from others by a short code alone. */
export const fingerprintOf = ({ secrets }: Pick<Resources, 'secrets'>, { operation, input }: Keyed): Buffer =>
  secrets.mac('idempotency', `${operation} ${canonical(input)}`);

/**
 * Runs a mutation in a transaction, once per idempotency key. The key is claimed in the transaction of the effect: there
 * is no moment in which one exists without the other, and a concurrent second request waits for the first one's outcome.
 *
 * @throws IDEMPOTENCY_MISMATCH for the same key with another input, CONFLICT while the first request still waits for its answer
 */
export async function once<Result>(context: Context, keyed: Keyed, effect: Effect<Result>): Promise<Result> {
  const key = keyOf(keyed);
  if (key === undefined) return context.db.transaction(trx => effect.run(trx));
  const tenantId = tenantOf(context);
  const fingerprint = fingerprintOf(context, keyed);
  const outcome = await context.db.transaction(async trx => {
    if (!(await claimKey(trx, tenantId, key, keyed.operation, fingerprint))) return undefined;
    const result = await effect.run(trx);
    await settleKey(trx, tenantId, key, effect.store(result));
    return { result };
  });
  if (outcome) {
    context.replay.key = key;
    return outcome.result;
  }
  const row = await findKey(context.db.write, tenantId, key);
  if (!row) throw conflict('The first request with this idempotency key has just expired. Try again.');
  return effect.again(replayOf(context, row, keyed));
}

/** @throws VALIDATION_ERROR when the key is too long */
export function keyOf({ key }: Keyed): string | undefined {
  if (key == null || key === '') return undefined;
  if (key.length > 255) throw invalid({ idempotencyKey: ['May have at most 255 characters.'] });
  return key;
}

/** What a key's first request made. Marks the context as a replay. */
export function replayOf(context: Context, row: KeyRow, keyed: Keyed): unknown {
  if (row.operation !== keyed.operation || !fingerprintOf(context, keyed).equals(row.fingerprint)) {
    throw new CodedError('IDEMPOTENCY_MISMATCH', 'This idempotency key was used for another request.');
  }
  if (context.replay.wantsAnswer && row.answer === null && row.age < RUNNING_SECONDS) {
    throw conflict('The first request with this idempotency key is still running.');
  }
  context.replay.replayed = true;
  context.replay.answer = row.answer ?? undefined;
  return row.result;
}

/** JSON with sorted keys, without the key itself and without what was not given. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([name, item]) => item !== undefined && name !== 'idempotencyKey');
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`)
    .join(',')}}`;
}
