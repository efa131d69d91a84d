import type { Db } from '../../../../../database/database.ts';
import type { MessageRow } from '../../../message.ts';
import { fileOf, hexDigest, RECEIVED_MS, type StoredMedia } from '../file.ts';
import { type NewFile, queueFiles } from './queue.sql.ts';

/** Lanes of files that wait to be fetched from the network: one per channel, whose token they need. */
export const MEDIA = 'media';

export const mediaLane = (tenantId: number, channelId: number): string => `${tenantId}:${channelId}`;

/** Parses the key of a lane. */
export function parseMediaLane(key: string): { readonly tenantId: number; readonly channelId: number } {
  const [tenantId, channelId] = key.split(':').map(Number);
  if (!Number.isSafeInteger(tenantId) || !Number.isSafeInteger(channelId))
    throw new Error(`"${key}" is not the key of a lane of files.`);
  return { tenantId, channelId } as { tenantId: number; channelId: number };
}

type Received = Pick<MessageRow, 'id' | 'channel_id' | 'type' | 'content'>;

/** Queues the files of messages that the network delivered, in their transaction; a lane fetches them. */
export const queueReceived = (trx: Db, tenantId: number, messages: readonly Received[]): Promise<void> =>
  queueFiles(trx, tenantId, messages.flatMap(fileToFetch));

function fileToFetch({ id, channel_id: channelId, type, content }: Received): NewFile[] {
  const file = fileOf({ type, content });
  if (!file?.networkId) return [];
  const mimeType = content['mime_type'];
  return [
    {
      id,
      channelId,
      networkMediaId: file.networkId,
      mimeType: typeof mimeType === 'string' ? mimeType : null,
      sha256: hexDigest(content['sha256']),
      livesForMs: RECEIVED_MS,
    },
  ];
}

/** The channels whose lanes have files to fetch. */
export const channelsWithFiles = (messages: readonly Received[]): number[] => [
  ...new Set(messages.filter(message => fileToFetch(message).length > 0).map(message => message.channel_id)),
];

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
