import type { Principal, Resources } from '../../context.ts';
import { optionalInputId } from '../../global-ids.ts';
import { idFor } from '../../platform/ids.ts';
import { requireScope } from '../caller.ts';
import { requireFeature } from '../tenants/feature.ts';
import { channelFor, openChannel } from './channel.ts';
import { nameOnly } from './file.ts';
import { sendableUntil, uploadEnd } from './lifetime.ts';
import { upsertFile } from './store.ts';
import { type IncomingFile, transfer } from './transfer.ts';

/**
 * Takes a file that comes together with the request that uses it (a REST form).
 *
 * Its id is made of what it is: who repeats a request sends the same file, which then has the same id, so that an idempotency
 * key recognises the request. A file whose request fails afterwards stays as a row that nothing names, until it expires.
 *
 * @returns the id of the media
 * @throws INSUFFICIENT_SCOPE before a byte is read; as `transfer`
 */
export async function receiveFile(
  resources: Resources,
  principal: Principal,
  file: Omit<IncomingFile, 'kind' | 'size'> & { readonly channelId: string | null },
): Promise<string> {
  requireScope(principal, 'messages:send');
  const { tenant } = principal;
  requireFeature(tenant, 'media');
  const channelId = await channelFor(resources, tenant.id, optionalInputId('Channel', file.channelId, 'channelId'));
  const channel = await openChannel(resources, tenant.id, channelId);
  const nowMs = resources.clock.now();
  const filename = nameOnly(file.filename ?? '');
  const taken = await transfer(resources, channel, { ...file, filename, kind: null, size: undefined });
  const id = idFor(0, JSON.stringify([tenant.id, channelId, taken.sha256, taken.filename, taken.mimeType]));
  const stored = { ...taken, expiresAt: uploadEnd(nowMs) };
  await upsertFile(resources.db.write, tenant.id, id, channelId, stored, sendableUntil(nowMs));
  return id;
}
