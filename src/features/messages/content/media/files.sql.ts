import { sql } from 'kysely';
import type { Db } from '../../../../database/database.ts';
import type { FileLocation } from './file.ts';

/** Locates the file of an upload or of a message. */
export async function findFile(db: Db, tenantId: number, id: string): Promise<FileLocation | undefined> {
  const { rows } = await sql<FileLocation>`
    select f.channel_id, f.network_media_id, f.mime_type, f.filename, f.size, f.sha256
    from media f where f.tenant_id = ${tenantId} and f.id = ${id} and f.state = 'stored'
    union all
    select m.channel_id, m.content->>'id', coalesce(f.mime_type, m.content->>'mime_type'), coalesce(m.content->>'filename', f.filename),
           f.size, coalesce(f.sha256, m.content->>'sha256')
    from messages m
    left join media f on f.tenant_id = ${tenantId} and f.network_media_id = m.content->>'id'
    where m.tenant_id = ${tenantId} and m.id = ${id} and m.type = any('{image,video,audio,document,sticker}') and m.content ? 'id'
    limit 1`.execute(db);
  return rows[0];
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
