import { sql } from 'kysely';
import type { Db } from '../../../../database/database.ts';
import type { FileLocation, FileState } from './file.ts';

/** Locates the file of an upload or of a message. */
export async function findFile(db: Db, tenantId: number, id: string): Promise<FileLocation | undefined> {
  const { rows } = await sql<FileLocation>`
    select f.channel_id, f.network_media_id, f.mime_type, f.filename, f.size, f.sha256, c.storage_key
    from media f
    left join media_files k on k.tenant_id = ${tenantId} and k.id = f.id
    left join media_contents c on c.tenant_id = ${tenantId} and c.sha256 = k.sha256
    where f.tenant_id = ${tenantId} and f.id = ${id} and f.state = 'stored'
    union all
    select m.channel_id, m.content->>'id', coalesce(f.mime_type, m.content->>'mime_type', k.mime_type), coalesce(m.content->>'filename', f.filename),
           coalesce(c.size, f.size), coalesce(encode(c.sha256, 'hex'), f.sha256, m.content->>'sha256'), c.storage_key
    from messages m
    left join media f on f.tenant_id = ${tenantId} and f.network_media_id = m.content->>'id'
    left join media_files k on k.tenant_id = ${tenantId} and k.id = coalesce(f.id, m.id)
    left join media_contents c on c.tenant_id = ${tenantId} and c.sha256 = k.sha256
    where m.tenant_id = ${tenantId} and m.id = ${id} and m.type = any('{image,video,audio,document,sticker}') and m.content ? 'id'
    limit 1`.execute(db);
  return rows[0];
}

/** States of files, by the message's id and the network's id of the file. */
export async function getFileStates(
  db: Db,
  tenantId: number,
  messages: readonly { readonly id: string; readonly networkId: string }[],
): Promise<FileState[]> {
  const { rows } = await sql<FileState>`
    select r.id as message_id, k.state, coalesce(f.mime_type, k.mime_type) as mime_type, coalesce(c.size, f.size) as size,
           coalesce(encode(c.sha256, 'hex'), f.sha256) as sha256, f.id as upload_id, f.filename as upload_filename,
           extract(epoch from coalesce(k.expires_at, f.expires_at) - clock_timestamp())::float8 * 1000 as lives_for_ms
    from unnest(${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ networkId }) => networkId)}::text[]) as r (id, network_id)
    left join lateral (
      select * from media f where f.tenant_id = ${tenantId} and f.network_media_id = r.network_id and f.state = 'stored' limit 1) f on true
    left join media_files k on k.tenant_id = ${tenantId} and k.id = coalesce(f.id, r.id)
    left join media_contents c on c.tenant_id = ${tenantId} and c.sha256 = k.sha256`.execute(db);
  return rows;
}

/** Whether a message of a tenant shows an upload; by the indexes messages_by_upload and messages_by_sticker, which have these conditions. */
const showsUpload = (tenantId: string | number, networkId: string) => {
  const found = (
    types: string,
  ) => sql`exists (select from messages m where m.tenant_id = ${typeof tenantId === 'string' ? sql.raw(tenantId) : tenantId}
      and m.content->>'id' = ${sql.raw(networkId)} and m.direction = 'outbound' and ${sql.raw(types)} and m.content ? 'id')`;
  return sql`(${found("m.type = any('{image,video,audio,document}')")} or ${found("m.type = 'sticker'")})`;
};

/**
 * Deletes expired uploads, at most `limit`, and pending ones whose file never came. An upload whose file is kept stays while a message
 * shows it, and is looked at again after a day.
 * @returns the number of examined uploads
 */
export async function deleteExpired(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: housekeeping, by age alone */
    with due as materialized (
      select tenant_id, id, network_media_id from media where coalesce(recheck_at, expires_at) < clock_timestamp()
      order by coalesce(recheck_at, expires_at) limit ${limit} for update skip locked
    ), shown as materialized (
      select d.tenant_id, d.id from due d join media_files k on k.tenant_id = d.tenant_id and k.id = d.id and k.state = 'kept'
      where ${showsUpload('d.tenant_id', 'd.network_media_id')}
    ), stay as (
      update media u set recheck_at = clock_timestamp() + interval '1 day' from shown s where u.tenant_id = s.tenant_id and u.id = s.id
    ), gone as (
      delete from media u using due d where u.tenant_id = d.tenant_id and u.id = d.id
        and not exists (select from shown s where s.tenant_id = d.tenant_id and s.id = d.id)
    )
    select count(*) as count from due`.execute(db);
  return rows[0]?.count ?? 0;
}

/**
 * Forgets the kept files of uploads that no message shows any more, of those with the network's ids. The uploads stay sendable while the
 * network has them.
 * @returns their number
 */
export async function forgetUnshownUploads(trx: Db, tenantId: number, networkIds: readonly string[]): Promise<number> {
  const { rows } = await sql`
    delete from media_files k
    where k.tenant_id = ${tenantId} and k.id = any(array(
      select u.id from media u
      where u.tenant_id = ${tenantId} and u.network_media_id = any(${networkIds}::text[]) 
        and not ${showsUpload(tenantId, 'u.network_media_id')}))
    returning k.id`.execute(trx);
  return rows.length;
}

/**
 * Blanks file names down to their extension. Scans the names of all files of a tenant, at most 30 days of them.
 * @param networkIds files by the network's ids
 * @param texts files whose names contain one of these
 * @returns the number of changed rows
 */
export async function blankFilenames(
  trx: Db,
  tenantId: number,
  networkIds: readonly string[],
  texts: readonly string[],
): Promise<number> {
  const patterns = texts.map(text => `%${text.replace(/[\\%_]/g, '\\$&')}%`);
  const { numAffectedRows } = await sql`
    update media set filename = 'file' || coalesce(substring(filename from '\.[A-Za-z0-9]{1,5}$'), '')
    where tenant_id = ${tenantId} and id = any(array(
      select id from media where tenant_id = ${tenantId} and network_media_id = any(${networkIds}::text[])
      union
      select id from media where tenant_id = ${tenantId} and filename ilike any(${patterns}::text[])
    ))`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
