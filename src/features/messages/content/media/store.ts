import { sql } from 'kysely';
import type { Db } from '../../../../database/database.ts';
import { clockTimeIn } from '../../../../database/expressions.ts';
import type { MediaType } from '../../../../network/network.ts';
import type { PublicChannel } from '../../../channels/channel.ts';
import type { MediaRow, PendingMedia, StoredMedia } from './file.ts';

const COLUMNS = [
  'id',
  'channel_id',
  'state',
  'kind',
  'filename',
  'mime_type',
  'size',
  'sha256',
  'network_media_id',
  'created_at',
  'expires_at',
] as const satisfies readonly (keyof MediaRow)[];

const LIVES_FOR = sql<number>`extract(epoch from media.expires_at - clock_timestamp())::float8 * 1000`.as(
  'lives_for_ms',
);

export interface NewUpload {
  readonly id: string;
  readonly channelId: number;
  readonly kind: MediaType | null;
  readonly filename: string | null;
  readonly mimeType: string | null;
  /** Time in which the file must be uploaded. */
  readonly waitsMs: number;
}

export const insertPending = (db: Db, tenantId: number, upload: NewUpload): Promise<PendingMedia> =>
  db
    .insertInto('media')
    .values({
      tenant_id: tenantId,
      id: upload.id,
      channel_id: upload.channelId,
      state: 'pending',
      kind: upload.kind,
      filename: upload.filename,
      mime_type: upload.mimeType,
      expires_at: clockTimeIn(upload.waitsMs),
    })
    .returning(COLUMNS)
    .returning(LIVES_FOR)
    .$narrowType<PendingMedia>()
    .executeTakeFirstOrThrow();

/** A file that the network has accepted. */
export interface AcceptedFile {
  readonly kind: MediaType;
  readonly filename: string;
  readonly mimeType: string;
  readonly size: number;
  readonly sha256: string;
  readonly networkMediaId: string;
  /** Time until the network deletes it. */
  readonly livesForMs: number;
}

const fieldsOf = (file: AcceptedFile) => ({
  state: 'stored',
  kind: file.kind,
  filename: file.filename,
  mime_type: file.mimeType,
  size: file.size,
  sha256: file.sha256,
  network_media_id: file.networkMediaId,
  expires_at: clockTimeIn(file.livesForMs),
});

/** Completes a pending upload. @returns undefined if it is no longer pending */
export const completeUpload = (
  db: Db,
  tenantId: number,
  id: string,
  file: AcceptedFile,
): Promise<StoredMedia | undefined> =>
  db
    .updateTable('media')
    .set(fieldsOf(file))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .returning(COLUMNS)
    .returning(LIVES_FOR)
    .$narrowType<StoredMedia>()
    .executeTakeFirst();

/**
 * Gives an upload that will soon expire another id, so that messages that were sent with it keep their file when the same content
 * is uploaded again.
 */
export const retireUpload = async (
  db: Db,
  tenantId: number,
  id: string,
  newId: string,
  spareMs: number,
): Promise<void> => {
  await db
    .with('retired', query =>
      query
        .updateTable('media')
        .set({ id: newId })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', id)
        .where('expires_at', '<=', clockTimeIn(spareMs))
        .returning('id'),
    )
    .updateTable('media_files')
    .set({ id: newId })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where(eb => eb.exists(eb.selectFrom('retired').select('retired.id')))
    .execute();
};

/**
 * Stores a file whose id is derived from its content. An existing row keeps the network's id, which messages refer to, until less
 * than `spareMs` of its life is left.
 */
export const upsertFile = (
  db: Db,
  tenantId: number,
  id: string,
  channelId: number,
  file: AcceptedFile,
  spareMs: number,
): Promise<StoredMedia> =>
  db
    .insertInto('media')
    .values({ tenant_id: tenantId, id, channel_id: channelId, ...fieldsOf(file) })
    .onConflict(oc =>
      oc
        .columns(['tenant_id', 'id'])
        .doUpdateSet(({ case: when, ref }) => {
          const keepIfAlive = <Column extends 'network_media_id' | 'expires_at'>(column: Column) =>
            when()
              .when('media.expires_at', '>', clockTimeIn(spareMs))
              .then(ref(`media.${column}`))
              .else(ref(`excluded.${column}`))
              .end();
          return { network_media_id: keepIfAlive('network_media_id'), expires_at: keepIfAlive('expires_at') };
        })
        .whereRef('media.tenant_id', '=', 'excluded.tenant_id'),
    )
    .returning(COLUMNS)
    .returning(LIVES_FOR)
    .$narrowType<StoredMedia>()
    .executeTakeFirstOrThrow();

export const getMedia = async (db: Db, tenantId: number, ids: readonly string[]): Promise<MediaRow[]> =>
  (await db
    .selectFrom('media')
    .select(COLUMNS)
    .select(LIVES_FOR)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(ids)))
    .execute()) as MediaRow[];

/** When the network deletes an upload, by the network's id; undefined if no row knows. */
export const uploadEnd = async (db: Db, tenantId: number, networkId: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom('media')
      .select('expires_at')
      .where('tenant_id', '=', tenantId)
      .where('network_media_id', '=', networkId)
      .limit(1)
      .executeTakeFirst()
  )?.expires_at;

/** The channel with this id, or the default channel (null). */
export const findChannel = (
  db: Db,
  tenantId: number,
  channelId: number | null,
): Promise<Pick<PublicChannel, 'id' | 'status' | 'status_reason'> | undefined> =>
  db
    .selectFrom('channels')
    .select(['id', 'status', 'status_reason'])
    .where('tenant_id', '=', tenantId)
    .where(eb => (channelId === null ? eb('is_default', '=', eb.lit(true)) : eb('id', '=', channelId)))
    .$narrowType<Pick<PublicChannel, 'status'>>()
    .executeTakeFirst();
