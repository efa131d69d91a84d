import { type Principal, tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import type { Context, Resources } from '../../../schema/context.ts';
import { type Keyed, keyOf } from './once.ts';
import { claimKey, deleteExpiredKey, deleteExpiredKeys, findKey, saveAnswer, settleKey } from './store.ts';

/** Stores the REST response of the request that claimed the key. */
export async function rememberAnswer(context: Context, answer: unknown): Promise<void> {
  const { key } = context.replay;
  if (key !== undefined) await saveAnswer(context.db.write, tenantOf(context), key, answer);
}

/** Whether a client's request has used this key. */
export async function isUsedKey({ db }: Resources, principal: Principal | undefined, key: string): Promise<boolean> {
  const stored = keyOf({ operation: 'REST', key });
  if (principal === undefined || stored === undefined) return false;
  return (await findKey(db.write, principal.tenant.id, stored)) !== undefined;
}

/** Replaces the stored result of a request, for work that ends after its transaction: repetitions are answered from the new one. */
export async function replaceResult(context: Context, keyed: Keyed, result: unknown): Promise<void> {
  const key = keyOf(keyed);
  if (key !== undefined) await settleKey(context.db.write, tenantOf(context), key, result, null);
}

/** Deletes a key if it is older than 24 hours. */
export const forgetExpiredKey = (context: Context, key: string): Promise<void> =>
  deleteExpiredKey(context.db.write, tenantOf(context), key);

/** Keys deleted by one statement. */
const BATCH = 1_000;

/** Deletes all keys that are older than 24 hours, in small transactions that hold locks for a short time. */
export async function deleteOldKeys({ db }: Resources): Promise<void> {
  while ((await deleteExpiredKeys(db.write, BATCH)) === BATCH);
}

/** Operation and fingerprint of a key that `fenceKey` claims: no request has them. */
const ABANDONED = 'abandoned';
const NO_FINGERPRINT = Buffer.alloc(32);

/** Claims a key, so that no request can use it any more. @returns false if a request has used it already */
export const fenceKey = (trx: Db, tenantId: number, key: string): Promise<boolean> =>
  claimKey(trx, tenantId, key, ABANDONED, NO_FINGERPRINT);
