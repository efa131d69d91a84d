import type { Db } from '../../../../../database/database.ts';
import type { StoredMedia } from '../file.ts';
import { queueFiles } from './queue.sql.ts';

/**
 * Queues the file of an upload, which a lane reads back from the network: its bytes went straight there. Writing them to the store in the
 * same request would make each upload wait for the store, and fail with it.
 */
export const queueUpload = (trx: Db, tenantId: number, upload: StoredMedia): Promise<void> =>
  queueFiles(trx, tenantId, [
    {
      id: upload.id,
      channelId: upload.channel_id,
      networkMediaId: upload.network_media_id,
      mimeType: upload.mime_type,
      sha256: upload.sha256,
      livesForMs: upload.lives_for_ms,
    },
  ]);
