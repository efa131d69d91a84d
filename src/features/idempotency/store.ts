import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    idempotency_keys: { tenant_id: number; key: string };
  }
}

export interface KeyRow {
  readonly operation: string;
  readonly fingerprint: Buffer;
  readonly result: unknown;
  readonly answer: unknown;
  /** Seconds since the key was claimed. */
  readonly age: number;
}

export async function findKey(db: Db, tenantId: number, key: string): Promise<KeyRow | undefined> {
  const { rows } = await sql<KeyRow>`
    select operation, fingerprint, result, answer, extract(epoch from now() - created_at)::float8 as age
    from idempotency_keys where tenant_id = ${tenantId} and key = ${key} and created_at > now() - interval '24 hours'`.execute(
    db,
  );
  return rows[0];
}

/**
 * Takes the key inside the transaction of its effect. A second request waits here until the first has committed or rolled
 * back. @returns false when the key is taken
 */
export async function claimKey(
  trx: Db,
  tenantId: number,
  key: string,
  operation: string,
  fingerprint: Uint8Array,
): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotency_keys as k (tenant_id, key, operation, fingerprint)
    values (${tenantId}, ${key}, ${operation}, ${fingerprint})
    on conflict (tenant_id, key) do update
      set operation = excluded.operation, fingerprint = excluded.fingerprint, result = null, answer = null, created_at = now()
      where k.tenant_id = excluded.tenant_id and k.created_at <= now() - interval '24 hours'
    returning key`.execute(trx);
  return rows.length > 0;
}

export async function settleKey(trx: Db, tenantId: number, key: string, result: unknown): Promise<void> {
  await sql`
    update idempotency_keys set result = ${JSON.stringify(result)}::jsonb where tenant_id = ${tenantId} and key = ${key}`.execute(
    trx,
  );
}

export async function saveAnswer(db: Db, tenantId: number, key: string, answer: unknown): Promise<void> {
  await sql`
    update idempotency_keys set answer = ${JSON.stringify(answer)}::jsonb where tenant_id = ${tenantId} and key = ${key}`.execute(
    db,
  );
}

/** Removes up to `limit` keys that are older than their 24 hours. @returns how many */
export async function deleteExpiredKeys(db: Db, limit: number): Promise<number> {
  const { rows } = await sql`
    /* cross-tenant: age alone decides */
    delete from idempotency_keys where (tenant_id, key) in (
      select tenant_id, key from idempotency_keys where created_at < now() - interval '24 hours' limit ${limit} for update skip locked)
    returning key`.execute(db);
  return rows.length;
}

/** Takes one key whose 24 hours are over out of the way. */
export async function deleteExpiredKey(db: Db, tenantId: number, key: string): Promise<void> {
  await sql`
    delete from idempotency_keys
    where tenant_id = ${tenantId} and key = ${key} and created_at <= now() - interval '24 hours'`.execute(db);
}
