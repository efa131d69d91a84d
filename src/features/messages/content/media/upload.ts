import { CodedError, conflict, notFound } from '../../../../core/errors.ts';
import { requireFeature } from '../../../../core/plan-features.ts';
import type { Principal } from '../../../../core/principal.ts';
import type { Resources } from '../../../../schema/context.ts';
import { openChannel } from './channel.ts';
import { type StoredMedia, UPLOAD_MS } from './file.ts';
import { MEDIA, mediaLane, queueUpload } from './keeping/queue.ts';
import { completeUpload, getMedia } from './store.ts';
import { type IncomingFile, transfer } from './transfer.ts';

/**
 * Streams the file of an upload that `createUpload` announced to the network.
 * @param body its type is used if `createUpload` got none
 * @throws NOT_FOUND, also if its hour ends during the transfer, CONFLICT if the upload has its file already, and like `transfer` on the field `file`
 */
export async function upload(
  resources: Resources,
  { tenant }: Principal,
  id: string,
  body: Pick<IncomingFile, 'stream' | 'size' | 'mimeType'>,
): Promise<StoredMedia> {
  requireFeature(tenant, 'media');
  const [location] = await getMedia(resources.db.read, tenant.id, [id]);
  // The network's retention begins during the transfer; measured from before it.
  const began = performance.now();
  if (!location || (location.state === 'pending' && location.lives_for_ms <= 0)) throw notFound('Upload');
  const taken = () => conflict('This upload has its file already.');
  if (location.state === 'stored') throw taken();
  const channel = await openChannel(resources, tenant.id, location.channel_id);
  const file = await transfer(resources, tenant.id, channel, {
    stream: body.stream,
    size: body.size,
    filename: location.filename,
    mimeType: location.mime_type ?? body.mimeType,
    kind: location.kind,
    field: 'file',
  });
  const livesForMs = UPLOAD_MS - (performance.now() - began);
  const stored = await resources.db.transaction(async trx => {
    const completed = await completeUpload(trx, tenant.id, id, { ...file, livesForMs });
    if (completed) await queueUpload(trx, tenant.id, completed);
    return completed;
  });
  if (!stored) {
    // Deleted by housekeeping during the transfer, or completed by another request.
    const [other] = await getMedia(resources.db.write, tenant.id, [id]);
    throw other ? taken() : late();
  }
  resources.lanes.wake(MEDIA, mediaLane(tenant.id, stored.channel_id));
  return stored;
}

const late = (): CodedError =>
  new CodedError('NOT_FOUND', 'The hour of this upload ended before its file was complete. Announce it again.');
