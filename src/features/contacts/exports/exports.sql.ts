import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf, clockTimeIn, crossTenant } from '../../../database/expressions.ts';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';
import type { ExportJob } from './export.ts';

/** Starts the tenant's oldest due export, and resets what an earlier attempt recorded. */
export async function startNext(db: Db, tenantId: number): Promise<ExportJob | undefined> {
  const { rows } = await sql<ExportJob>`
    with next as materialized (
      select id from exports where tenant_id = ${tenantId} and due_at <= clock_timestamp() order by due_at, id limit 1 for update
    ), forgotten as (
      delete from export_people p using next n where p.tenant_id = ${tenantId} and p.export_id = n.id
    )
    update exports e set state = 'running', attempts = e.attempts + 1 from next n
    where e.tenant_id = ${tenantId} and e.id = n.id
    returning e.id, e.resource, e.file_type, e.contact_id, e.author, e.filter, e.attempts`.execute(db);
  return rows[0];
}

/** Queues an export again after a pause. */
export async function postpone(db: Db, tenantId: number, id: string, pauseMs: number, error: string): Promise<void> {
  await db
    .updateTable('exports')
    .set({ state: 'queued', due_at: clockTimeIn(pauseMs), error })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute();
}

/** Gives an export up. @returns whether it was running */
export async function fail(trx: Db, tenantId: number, id: string, error: string): Promise<boolean> {
  const { rows } = await sql`
    with gone as (delete from export_people where tenant_id = ${tenantId} and export_id = ${id}::uuid)
    update exports set state = 'failed', due_at = null, filter = null, error = ${error}, completed_at = clock_timestamp()
    where tenant_id = ${tenantId} and id = ${id}::uuid and state = 'running' returning id`.execute(trx);
  return rows.length > 0;
}

/**
 * Whether a person in an export was erased since their data was read. Ids of merged contacts stand for the survivor. Call it
 * under the lock of erasures.
 */
export async function hasErased(trx: Db, tenantId: number, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from export_people p, unnest(p.contact_ids) as contact_id
    where p.tenant_id = ${tenantId} and p.export_id = ${id}::uuid
      and not exists (select from contacts c where c.tenant_id = ${tenantId} and c.id = contact_id)
      and not exists (select from contact_merges m where m.tenant_id = ${tenantId} and m.former_id = contact_id and m.undone_at is null)
    limit 1`.execute(trx);
  return rows.length > 0;
}

export interface CompletedFile {
  readonly rowCount: number;
  readonly storageKey: string;
  readonly size: number;
  readonly sha256: Buffer;
  readonly keepMs: number;
}

export async function complete(trx: Db, tenantId: number, id: string, file: CompletedFile): Promise<void> {
  await sql`
    update exports set state = 'completed', due_at = null, filter = null, error = null, row_count = ${file.rowCount}::bigint,
      storage_key = ${file.storageKey}, size = ${file.size}::bigint, sha256 = ${file.sha256}::bytea, completed_at = clock_timestamp(),
      expires_at = clock_timestamp() + ${file.keepMs}::float8 * interval '1 ms'
    where tenant_id = ${tenantId} and id = ${id}::uuid`.execute(trx);
}

/** A file that was ended by an erasure. */
export interface EndedExport {
  readonly storage_key: string;
  /** Which of the erased people it had data of. */
  readonly contact_ids: readonly number[];
}

/**
 * Ends the files with data of people who are being erased.
 * @param contactIds including those of contacts that were merged into them
 */
export async function endExportsOf(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<EndedExport[]> {
  const { rows } = await sql<EndedExport>`
    with hit as materialized (
      select e.id, e.storage_key, array(
        select distinct c.id::float8 from export_people p join unnest(${contactIds}::bigint[]) as c (id) on c.id = any(p.contact_ids)
        where p.tenant_id = ${tenantId} and p.export_id = e.id and p.contact_ids && ${contactIds}::bigint[]) as contact_ids
      from exports e
      where e.tenant_id = ${tenantId} and e.state = 'completed' and exists (
        select from export_people p
        where p.tenant_id = ${tenantId} and p.export_id = e.id and p.contact_ids && ${contactIds}::bigint[])
      for update
    ), gone as (
      delete from export_people p using hit h where p.tenant_id = ${tenantId} and p.export_id = h.id
    )
    update exports e set state = 'expired', storage_key = null, error = 'Deleted, because it had data of a person who was erased.'
    from hit h where e.tenant_id = ${tenantId} and e.id = h.id
    returning h.storage_key, h.contact_ids`.execute(trx);
  return rows;
}

export interface EndedFile {
  readonly tenant_id: number;
  readonly storage_key: string;
}

/** Marks files past their retention as expired, at most `limit`. */
export async function endExpired(trx: Db, limit: number): Promise<EndedFile[]> {
  const { rows } = await sql<EndedFile>`
    /* cross-tenant: housekeeping, by age alone */
    with old as materialized (
      select tenant_id, id, storage_key from exports where state = 'completed' and expires_at < now()
      order by expires_at limit ${limit} for update skip locked
    ), gone as (
      delete from export_people p using old o where p.tenant_id = o.tenant_id and p.export_id = o.id
    )
    update exports e set state = 'expired', storage_key = null from old o where e.tenant_id = o.tenant_id and e.id = o.id
    returning o.tenant_id, o.storage_key`.execute(trx);
  return rows;
}

/** Deletes the rows of exports that ended, requested longer ago than this, those of all tenants. */
export async function deleteOldExports(db: Db, ageMs: number): Promise<void> {
  await db
    .deleteFrom('exports')
    .where('created_at', '<', sql<string>`now() - ${ageMs}::float8 * interval '1 ms'`)
    .where('state', '=', anyOf(['failed', 'expired']))
    .modifyEnd(crossTenant('exports of all tenants grow old'))
    .execute();
}

/** Tenants with due exports; see `Queue.dueLanes`. One that is running is due: it is held, or its process was killed. */
export const dueExportLanes = sql`
  select distinct tenant_id, tenant_id::text as key from exports where due_at <= clock_timestamp()`;

/** The backlog of each lane; see `listLanes`. */
export const exportBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id::text as key, count(*) as count, min(due_at) as oldest_at
  from exports where ${inAccount(tenantId)} and due_at is not null group by tenant_id`;
