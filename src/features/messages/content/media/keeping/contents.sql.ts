import { sql } from 'kysely';
import type { Db } from '../../../../../database/database.ts';
import { clockTime, clockTimeIn, crossTenant } from '../../../../../database/expressions.ts';

/** Reserves a key before bytes are written under it, so that the sweep deletes the bytes of a killed process. */
export async function reserveKey(db: Db, tenantId: number, storageKey: string, forMs: number): Promise<void> {
  await db
    .insertInto('media_unused')
    .values({ tenant_id: tenantId, storage_key: storageKey, due_at: clockTimeIn(forMs) })
    .execute();
}

/** Takes a reserved key into use. @returns false if it is not reserved any more, because the sweep has deleted its bytes */
export async function takeKey(trx: Db, tenantId: number, storageKey: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('media_unused')
    .where('tenant_id', '=', tenantId)
    .where('storage_key', '=', storageKey)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Makes the bytes under keys due for deletion. */
export async function dropKeys(trx: Db, tenantId: number, storageKeys: readonly string[]): Promise<void> {
  await trx
    .insertInto('media_unused')
    .values(storageKeys.map(key => ({ tenant_id: tenantId, storage_key: key, due_at: clockTime })))
    .onConflict(conflict => conflict.columns(['tenant_id', 'storage_key']).doUpdateSet({ due_at: clockTime }))
    .execute();
}

/** A claimed file and its content. */
export interface FetchedFile {
  readonly id: string;
  readonly claim: string;
  readonly mimeType: string | null;
  readonly sha256: Buffer;
  readonly size: number;
  readonly storageKey: string;
}

/**
 * Stores a content and refers the file to it. If the content is stored already, or the file was erased meanwhile, the bytes are left
 * to the sweep.
 * @returns false if the sweep has deleted the bytes, because the process was suspended for longer than the key was reserved
 */
export async function keepContent(trx: Db, tenantId: number, file: FetchedFile): Promise<boolean> {
  const reserved = await trx
    .selectFrom('media_unused')
    .select('storage_key')
    .where('tenant_id', '=', tenantId)
    .where('storage_key', '=', file.storageKey)
    .forUpdate()
    .executeTakeFirst();
  if (!reserved) return false;
  await sql`
    with c as (
      insert into media_contents (tenant_id, sha256, storage_key, size)
      values (${tenantId}::bigint, ${file.sha256}::bytea, ${file.storageKey}, ${file.size}::bigint)
      on conflict do nothing returning storage_key
    ), used as (
      delete from media_unused u using c where u.tenant_id = ${tenantId} and u.storage_key = c.storage_key
    ), surplus as (
      update media_unused u set due_at = ${clockTime}
      where u.tenant_id = ${tenantId} and u.storage_key = ${file.storageKey} and not exists (select from c)
    ), f as (
      update media_files f set state = 'kept', sha256 = ${file.sha256}::bytea, mime_type = coalesce(f.mime_type, ${file.mimeType}), claim = null,
        due_at = null, reason = null, kept_at = clock_timestamp()
      where f.tenant_id = ${tenantId} and f.id = ${file.id}::uuid and f.claim = ${file.claim}::uuid returning f.id
    )
    insert into media_released as r (tenant_id, sha256)
    select ${tenantId}::bigint, ${file.sha256}::bytea where not exists (select from f)
    on conflict (tenant_id, sha256) do update set sha256 = excluded.sha256 where r.tenant_id = excluded.tenant_id`.execute(
    trx,
  );
  return true;
}

/** Refers a claimed file to the content that the network's digest names. @returns false if there is none, or the claim is lost */
export async function linkKnownContent(db: Db, tenantId: number, id: string, claim: string): Promise<boolean> {
  const { rows } = await sql`
    update media_files f set state = 'kept', sha256 = f.expected_sha256, claim = null, due_at = null, reason = null, kept_at = clock_timestamp()
    where f.tenant_id = ${tenantId} and f.id = ${id}::uuid and f.claim = ${claim}::uuid
      and exists (select from media_contents c where c.tenant_id = ${tenantId} and c.sha256 = f.expected_sha256)
    returning f.id`.execute(db);
  return rows.length > 0;
}

/** Forgets files kept for longer than `days`, at most `limit`. @returns their number */
export async function expireKept(db: Db, days: number, limit: number): Promise<number> {
  const { rows } = await sql`
    /* cross-tenant: housekeeping, by age alone */
    with old as materialized (
      select tenant_id, id, sha256 from media_files
      where state = 'kept' and kept_at < clock_timestamp() - ${days}::float8 * interval '1 day' order by kept_at limit ${limit} for update skip locked
    ), r as (
      insert into media_released as r (tenant_id, sha256) select distinct tenant_id, sha256 from old order by 1, 2
      on conflict (tenant_id, sha256) do update set sha256 = excluded.sha256
    )
    update media_files f set state = 'expired', sha256 = null from old
    where f.tenant_id = old.tenant_id and f.id = old.id returning f.id`.execute(db);
  return rows.length;
}

/** A content of a tenant. */
export interface ContentKey {
  readonly tenant_id: number;
  readonly sha256: Buffer;
}

/**
 * Deletes contents without files, of those that lost one. Contents are locked before their files are looked for, by statements of
 * their own, so that each sees files that were stored meanwhile.
 * @returns the number of examined contents
 */
export async function deleteUnreferenced(trx: Db, limit: number): Promise<number> {
  const { rows: released } = await sql<ContentKey>`
    /* cross-tenant: housekeeping */
    delete from media_released r using (select tenant_id, sha256 from media_released order by tenant_id, sha256 limit ${limit} for update skip locked) o
    where r.tenant_id = o.tenant_id and r.sha256 = o.sha256 returning r.tenant_id, r.sha256`.execute(trx);
  if (released.length === 0) return 0;
  const keys = sql`unnest(${released.map(row => row.tenant_id)}::bigint[], ${released.map(row => row.sha256)}::bytea[]) as k (tenant_id, sha256)`;
  await sql`
    select from media_contents c join ${keys} on c.tenant_id = k.tenant_id and c.sha256 = k.sha256 order by c.tenant_id, c.sha256 for update of c`.execute(
    trx,
  );
  await sql`
    delete from media_contents c using ${keys} where c.tenant_id = k.tenant_id and c.sha256 = k.sha256
      and not exists (select from media_files f where f.tenant_id = c.tenant_id and f.sha256 = c.sha256)`.execute(trx);
  return released.length;
}

/** Locks keys whose bytes are to be deleted, at most `limit`. */
export const lockUnusedKeys = (
  trx: Db,
  limit: number,
): Promise<{ readonly tenant_id: number; readonly storage_key: string }[]> =>
  trx
    .selectFrom('media_unused')
    .select(['tenant_id', 'storage_key'])
    .where('due_at', '<=', sql<string>`clock_timestamp()`)
    .orderBy('due_at')
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .modifyEnd(crossTenant('housekeeping'))
    .execute();

/** Forgets a key whose bytes were deleted. */
export async function forgetKey(trx: Db, tenantId: number, storageKey: string): Promise<void> {
  await trx
    .deleteFrom('media_unused')
    .where('tenant_id', '=', tenantId)
    .where('storage_key', '=', storageKey)
    .execute();
}

/** Makes a locked key due again after a pause. */
export async function postponeKey(trx: Db, tenantId: number, storageKey: string, pauseMs: number): Promise<void> {
  await trx
    .updateTable('media_unused')
    .set({ due_at: clockTimeIn(pauseMs) })
    .where('tenant_id', '=', tenantId)
    .where('storage_key', '=', storageKey)
    .execute();
}
