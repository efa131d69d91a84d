import { sql } from 'kysely';
import type { MediaType } from '../../network/network.ts';
import type { Db } from '../../platform/database.ts';
import type { ChannelRow } from '../channels/channel.ts';
import type { FilePlace, MediaRow, PendingMedia, StoredMedia } from './file.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    media: { tenant_id: number; id: string };
  }
}

const COLUMNS = sql.raw(
  'm.id, m.channel_id, m.state, m.kind, m.filename, m.mime_type, m.size, m.sha256, m.network_media_id, m.created_at, m.expires_at',
);

export interface NewUpload {
  readonly id: string;
  readonly channelId: number;
  readonly kind: MediaType | null;
  readonly filename: string | null;
  readonly mimeType: string | null;
  readonly expiresAt: string;
}

export async function insertPending(db: Db, tenantId: number, upload: NewUpload): Promise<PendingMedia> {
  const { rows } = await sql<PendingMedia>`
    insert into media as m (tenant_id, id, channel_id, state, kind, filename, mime_type, expires_at)
    values (${tenantId}, ${upload.id}, ${upload.channelId}, 'pending', ${upload.kind}, ${upload.filename}, ${upload.mimeType}, ${upload.expiresAt})
    returning ${COLUMNS}`.execute(db);
  return rows[0] as PendingMedia;
}

export interface TakenFile {
  readonly kind: MediaType;
  readonly filename: string;
  readonly mimeType: string;
  readonly size: number;
  readonly sha256: string;
  readonly networkMediaId: string;
  readonly expiresAt: string;
}

/** Ends a pending upload. @returns undefined when it has been ended already */
export async function settleUpload(
  db: Db,
  tenantId: number,
  id: string,
  file: TakenFile,
): Promise<StoredMedia | undefined> {
  const { rows } = await sql<StoredMedia>`
    update media m set state = 'stored', kind = ${file.kind}, filename = ${file.filename}, mime_type = ${file.mimeType}, size = ${file.size},
      sha256 = ${file.sha256}, network_media_id = ${file.networkMediaId}, expires_at = ${file.expiresAt}
    where m.tenant_id = ${tenantId} and m.id = ${id} and m.state = 'pending'
    returning ${COLUMNS}`.execute(db);
  return rows[0];
}

/**
 * Stores a file whose id is made of it. Where it is there already, the row keeps the network's id that messages name, until
 * that is about to end.
 */
export async function upsertFile(
  db: Db,
  tenantId: number,
  id: string,
  channelId: number,
  file: TakenFile,
  freshUntil: string,
): Promise<StoredMedia> {
  const { rows } = await sql<StoredMedia>`
    insert into media as m (tenant_id, id, channel_id, state, kind, filename, mime_type, size, sha256, network_media_id, expires_at)
    values (${tenantId}, ${id}, ${channelId}, 'stored', ${file.kind}, ${file.filename}, ${file.mimeType}, ${file.size}, ${file.sha256},
            ${file.networkMediaId}, ${file.expiresAt})
    on conflict (tenant_id, id) do update set
      network_media_id = case when m.expires_at > ${freshUntil} then m.network_media_id else excluded.network_media_id end,
      expires_at = case when m.expires_at > ${freshUntil} then m.expires_at else excluded.expires_at end
      where m.tenant_id = excluded.tenant_id
    returning ${COLUMNS}`.execute(db);
  return rows[0] as StoredMedia;
}

export async function getMedia(db: Db, tenantId: number, ids: readonly string[]): Promise<MediaRow[]> {
  const { rows } = await sql<MediaRow>`
    select ${COLUMNS} from media m where m.tenant_id = ${tenantId} and m.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** Files by the network's ids, which messages carry. */
export async function getMediaByNetworkId(
  db: Db,
  tenantId: number,
  networkIds: readonly string[],
): Promise<StoredMedia[]> {
  const { rows } = await sql<StoredMedia>`
    select ${COLUMNS} from media m where m.tenant_id = ${tenantId} and m.network_media_id = any(${networkIds}::text[])`.execute(
    db,
  );
  return rows;
}

/** Where the file of an upload or of a message lies. */
export async function findFile(db: Db, tenantId: number, id: string): Promise<FilePlace | undefined> {
  const { rows } = await sql<FilePlace>`
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

/** The channel to send on, or the default one; undefined when there is none. */
export async function findChannel(
  db: Db,
  tenantId: number,
  channelId: number | null,
): Promise<Pick<ChannelRow, 'id' | 'status' | 'status_reason'> | undefined> {
  const { rows } = await sql<Pick<ChannelRow, 'id' | 'status' | 'status_reason'>>`
    select id, status, status_reason from channels
    where tenant_id = ${tenantId} and (id = ${channelId}::bigint or (${channelId}::bigint is null and is_default))`.execute(
    db,
  );
  return rows[0];
}

/** Removes what can be neither sent nor fetched any more, a few at a time. @returns how many */
export async function deleteExpired(db: Db, nowIso: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    /* cross-tenant: housekeeping, by age alone */
    delete from media where (tenant_id, id) in (
      select tenant_id, id from media where expires_at < ${nowIso} order by expires_at limit ${limit} for update skip locked)`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}
