import type { Db } from '../../../../../database/database.ts';
import type { MessageRow } from '../../../message.ts';
import { fileOf, hexDigest, RECEIVED_MS } from '../file.ts';
import { type NewFile, queueFiles } from './queue.sql.ts';

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
