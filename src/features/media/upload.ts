import type { Principal, Resources } from '../../context.ts';
import { conflict, notFound } from '../../errors.ts';
import { requireFeature } from '../tenants/feature.ts';
import { openChannel } from './channel.ts';
import type { StoredMedia } from './file.ts';
import { uploadEnd } from './lifetime.ts';
import { getMedia, settleUpload } from './store.ts';
import { type IncomingFile, transfer } from './transfer.ts';

/**
 * Puts a file into the place that `createUpload` made for it, straight through to the network.
 * @param body what the request says of itself counts where `createUpload` was told nothing
 * @throws NOT_FOUND, CONFLICT when there is a file already, and as `transfer` on the field `file`
 */
export async function upload(
  resources: Resources,
  { tenant }: Principal,
  id: string,
  body: Pick<IncomingFile, 'stream' | 'size' | 'mimeType'>,
): Promise<StoredMedia> {
  requireFeature(tenant, 'media');
  const [place] = await getMedia(resources.db.read, tenant.id, [id]);
  const nowMs = resources.clock.now();
  if (!place || (place.state === 'pending' && Date.parse(place.expires_at) <= nowMs)) throw notFound('Upload');
  const taken = () => conflict('This upload has its file already.');
  if (place.state === 'stored') throw taken();
  const channel = await openChannel(resources, tenant.id, place.channel_id);
  const file = await transfer(resources, channel, {
    stream: body.stream,
    size: body.size,
    filename: place.filename,
    mimeType: place.mime_type ?? body.mimeType,
    kind: place.kind,
    field: 'file',
  });
  const stored = await settleUpload(resources.db.write, tenant.id, id, { ...file, expiresAt: uploadEnd(nowMs) });
  if (!stored) throw taken();
  return stored;
}
