import { sql } from 'kysely';
import { compileOnce } from '../../../database/compile-once.ts';
import type { Db } from '../../../database/database.ts';
import { crossTenant, transactionTime } from '../../../database/expressions.ts';

export interface KeyRow {
  readonly operation: string;
  readonly fingerprint: Buffer;
  readonly result: unknown;
  readonly answer: unknown;
  /** Seconds since the key was claimed. */
  readonly age: number;
}

/** Keys that were created before this have expired. */
const expiry = sql<string>`now() - interval '24 hours'`;
const age = sql<number>`extract(epoch from now() - created_at)::float8`;

export const findKey = (db: Db, tenantId: number, key: string): Promise<KeyRow | undefined> =>
  db
    .selectFrom('idempotency_keys')
    .select(['operation', 'fingerprint', 'result', 'answer', age.as('age')])
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .where('created_at', '>', expiry)
    .executeTakeFirst();

const insertKey = compileOnce((db, tenantId: number, key: string, operation: string, fingerprint: Buffer) =>
  db
    .insertInto('idempotency_keys')
    .values({ tenant_id: tenantId, key, operation, fingerprint })
    .onConflict(conflict =>
      conflict
        .columns(['tenant_id', 'key'])
        .doUpdateSet(eb => ({
          operation: eb.ref('excluded.operation'),
          fingerprint: eb.ref('excluded.fingerprint'),
          result: null,
          answer: null,
          contact_id: null,
          created_at: transactionTime,
        }))
        .whereRef('idempotency_keys.tenant_id', '=', 'excluded.tenant_id')
        .where('idempotency_keys.created_at', '<=', expiry),
    )
    .returning('key'),
);

/**
 * Claims the key inside the transaction of its effect. A second request waits here until the first has committed or rolled back.
 * @returns false if the key is taken
 */
export async function claimKey(
  trx: Db,
  tenantId: number,
  key: string,
  operation: string,
  fingerprint: Buffer,
): Promise<boolean> {
  const rows = await insertKey(trx, tenantId, key, operation, fingerprint);
  return rows.length > 0;
}

/** Stores the result of the request that claimed the key. */
export async function settleKey(
  trx: Db,
  tenantId: number,
  key: string,
  result: unknown,
  contactId: number | null,
): Promise<void> {
  await trx
    .updateTable('idempotency_keys')
    .set({ result: JSON.stringify(result) ?? null, contact_id: contactId })
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .execute();
}

/** Stores the response of a request, except under the key of an erased contact. */
export async function saveAnswer(db: Db, tenantId: number, key: string, answer: unknown): Promise<void> {
  await db
    .updateTable('idempotency_keys')
    .set({ answer: JSON.stringify(answer) ?? null })
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .where('fingerprint', '<>', Buffer.alloc(0))
    .execute();
}

/** Deletes up to `limit` keys that are older than 24 hours. @returns their number */
export async function deleteExpiredKeys(db: Db, limit: number): Promise<number> {
  const rows = await db
    .deleteFrom('idempotency_keys')
    .where(eb =>
      eb(
        eb.refTuple('tenant_id', 'key'),
        'in',
        eb
          .selectFrom('idempotency_keys')
          .select(['tenant_id', 'key'])
          .where('created_at', '<', expiry)
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('tenant_id', 'key'),
      ),
    )
    .returning('key')
    .modifyEnd(crossTenant('age alone decides'))
    .execute();
  return rows.length;
}

/** Deletes a key if it is older than 24 hours. */
export async function deleteExpiredKey(db: Db, tenantId: number, key: string): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('tenant_id', '=', tenantId)
    .where('key', '=', key)
    .where('created_at', '<=', expiry)
    .execute();
}
