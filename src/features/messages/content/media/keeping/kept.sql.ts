import { sql } from 'kysely';
import { NIL_UUID } from '../../../../../core/ids.ts';
import type { Db } from '../../../../../database/database.ts';

/** A kept file of a contact's message. */
export interface KeptFile {
  /** Id of the message. */
  readonly id: string;
  readonly mime_type: string | null;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  readonly storage_key: string;
}

/** Kept files of a contact's messages after an id, in the order of the messages. */
export async function listKeptOfContact(
  db: Db,
  tenantId: number,
  contactId: number,
  after: string | null,
  limit: number,
): Promise<KeptFile[]> {
  const { rows } = await sql<KeptFile>`
    select m.id, coalesce(m.content->>'mime_type', k.mime_type) as mime_type, c.size, encode(c.sha256, 'hex') as sha256, c.storage_key
    from messages m
    join media_files k on k.tenant_id = ${tenantId} and k.id = m.id
    join media_contents c on c.tenant_id = ${tenantId} and c.sha256 = k.sha256
    where m.tenant_id = ${tenantId} and m.contact_id = ${contactId} and m.id > coalesce(${after}::uuid, ${sql.lit(NIL_UUID)})
    order by m.id limit ${limit}`.execute(db);
  return rows;
}

/** Counts the kept files of contacts, by contact. */
export async function countKeptOf(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<{ readonly contact_id: number; readonly count: number }[]> {
  const { rows } = await sql<{ contact_id: number; count: number }>`
    select m.contact_id, count(*) as count from messages m
    join media_files k on k.tenant_id = ${tenantId} and k.id = m.id and k.state = 'kept'
    where m.tenant_id = ${tenantId} and m.contact_id = any(${contactIds}::bigint[]) group by m.contact_id`.execute(db);
  return rows;
}

/** Files and bytes of all tenants, and files that wait to be fetched. */
export interface MediaTotals {
  readonly files: number;
  readonly bytes: number;
  readonly waiting: number;
}

export async function getTotals(db: Db): Promise<MediaTotals> {
  const { rows } = await sql<MediaTotals>`
    /* cross-tenant: a metric of the deployment */
    select coalesce(sum(files), 0)::bigint as files, coalesce(sum(bytes), 0)::bigint as bytes,
      (select count(*) from media_files where state = 'waiting') as waiting from media_usage`.execute(db);
  return rows[0] ?? { files: 0, bytes: 0, waiting: 0 };
}
