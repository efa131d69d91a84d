import { sql } from 'kysely';
import type { Db } from '../../../../../database/database.ts';

export interface StoredThumbnail {
  readonly storage_key: string;
  /** Bytes. */
  readonly size: number;
}

/** @param sha256 of the content, hex */
export const findThumbnail = (
  db: Db,
  tenantId: number,
  sha256: string,
  width: number,
): Promise<StoredThumbnail | undefined> =>
  db
    .selectFrom('media_thumbnails')
    .select(['storage_key', 'size'])
    .where('tenant_id', '=', tenantId)
    .where('sha256', '=', Buffer.from(sha256, 'hex'))
    .where('width', '=', width)
    .executeTakeFirst();

/** Stores a thumbnail of a kept content. @returns false if the content is not kept, or another process was quicker */
export async function insertThumbnail(
  trx: Db,
  tenantId: number,
  sha256: string,
  width: number,
  { storage_key, size }: StoredThumbnail,
): Promise<boolean> {
  const { rows } = await sql<{ width: number }>`
    insert into media_thumbnails (tenant_id, sha256, width, storage_key, size)
    select c.tenant_id, c.sha256, ${width}::smallint, ${storage_key}::text, ${size}::bigint from media_contents c
    where c.tenant_id = ${tenantId} and c.sha256 = ${Buffer.from(sha256, 'hex')}::bytea for share of c
    on conflict (tenant_id, sha256, width) do nothing
    returning width`.execute(trx);
  return rows.length > 0;
}

/** Forgets a thumbnail whose bytes the store has lost. */
export async function deleteThumbnail(db: Db, tenantId: number, storageKey: string, sha256: string): Promise<void> {
  await db
    .deleteFrom('media_thumbnails')
    .where('tenant_id', '=', tenantId)
    .where('sha256', '=', Buffer.from(sha256, 'hex'))
    .where('storage_key', '=', storageKey)
    .execute();
}
