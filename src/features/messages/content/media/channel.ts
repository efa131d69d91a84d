import { CodedError } from '../../../../core/errors.ts';
import type { ChannelCredentials } from '../../../../network/network.ts';
import type { Resources } from '../../../../schema/context.ts';
import { credentialsOf } from '../../../channels/credentials.ts';
import { requireActiveChannel } from '../../../channels/require-channel.ts';
import { findChannel } from './store.ts';

/**
 * The channel to upload a file to: files belong to a number.
 * @param channelId null: the default channel
 * @throws NOT_FOUND, MESSAGING_NOT_CONFIGURED
 */
export async function channelFor(
  { db }: Pick<Resources, 'db'>,
  tenantId: number,
  channelId: number | null,
): Promise<number> {
  return requireActiveChannel(await findChannel(db.read, tenantId, channelId), channelId !== null, 'channelId').id;
}

/** The credentials for media calls. @throws MESSAGING_NOT_CONFIGURED if the channel was deleted */
export async function openChannel(
  resources: Pick<Resources, 'db' | 'secrets'>,
  tenantId: number,
  channelId: number,
): Promise<ChannelCredentials> {
  const credentials = await credentialsOf(resources, tenantId, channelId);
  if (!credentials) throw new CodedError('MESSAGING_NOT_CONFIGURED', 'The channel of this file is not connected.');
  return credentials;
}
