import { optionalInputId } from '../../../../core/global-ids.ts';
import { idFor, newId } from '../../../../core/ids.ts';
import { requireFeature } from '../../../../core/plan-features.ts';
import type { Principal } from '../../../../core/principal.ts';
import { requireScope } from '../../../../core/principal.ts';
import type { Resources } from '../../../../schema/context.ts';
import { channelFor, openChannel } from './channel.ts';
import { MIN_REMAINING_MS, nameOnly, UPLOAD_MS } from './file.ts';
import { MEDIA, mediaLane, queueUpload } from './keeping/queue.ts';
import { retireUpload, upsertFile } from './store.ts';
import { type IncomingFile, transfer } from './transfer.ts';

/**
 * Receives a file that is part of the request that uses it (a REST form).
 *
 * Its id is derived from its content, so that a repeated request has the same input under its idempotency key. The row of a file
 * whose request fails stays unused until it expires.
 *
 * @returns the id of the media
 * @throws INSUFFICIENT_SCOPE before the file is read; like `transfer`
 */
export async function receiveFile(
  resources: Resources,
  principal: Principal,
  file: Omit<IncomingFile, 'kind' | 'size'> & { readonly channelId: string | null },
): Promise<string> {
  requireScope(principal, 'messages:send');
  const { tenant } = principal;
  requireFeature(tenant, 'media');
  const channelId = await channelFor(
    resources,
    tenant.id,
    optionalInputId(tenant.id, 'Channel', file.channelId, 'channelId'),
  );
  const channel = await openChannel(resources, tenant.id, channelId);
  // The network's retention begins during the transfer; measured from before it.
  const began = performance.now();
  const filename = nameOnly(file.filename ?? '');
  const taken = await transfer(resources, tenant.id, channel, { ...file, filename, kind: null, size: undefined });
  const id = idFor(0, JSON.stringify([tenant.id, channelId, taken.sha256, taken.filename, taken.mimeType]));
  const stored = { ...taken, livesForMs: UPLOAD_MS - (performance.now() - began) };
  await resources.db.transaction(async trx => {
    await retireUpload(trx, tenant.id, id, newId(), MIN_REMAINING_MS);
    await queueUpload(trx, tenant.id, await upsertFile(trx, tenant.id, id, channelId, stored, MIN_REMAINING_MS));
  });
  resources.lanes.wake(MEDIA, mediaLane(tenant.id, channelId));
  return id;
}
