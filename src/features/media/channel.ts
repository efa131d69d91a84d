import type { Resources } from '../../context.ts';
import { CodedError } from '../../errors.ts';
import type { ChannelCredentials } from '../../network/network.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { requireUsable } from '../channels/usable.ts';
import { findChannel } from './store.ts';

/**
 * The channel that a file is for: files belong to the number that they were uploaded for.
 * @param channelId null: the default one
 * @throws NOT_FOUND, MESSAGING_NOT_CONFIGURED
 */
export async function channelFor(
  { db }: Pick<Resources, 'db'>,
  tenantId: number,
  channelId: number | null,
): Promise<number> {
  return requireUsable(await findChannel(db.read, tenantId, channelId), channelId !== null).id;
}

/** What a call to the network about a file needs. @throws MESSAGING_NOT_CONFIGURED when the channel is gone */
export async function openChannel(
  resources: Pick<Resources, 'db' | 'secrets'>,
  tenantId: number,
  channelId: number,
): Promise<ChannelCredentials> {
  const credentials = await credentialsOf(resources, tenantId, channelId);
  if (!credentials) throw new CodedError('MESSAGING_NOT_CONFIGURED', 'The channel of this file is not connected.');
  return credentials;
}
