import type { ChannelCredentials } from '../../network/network.ts';
import type { Resources } from '../../schema/context.ts';
import type { ChannelRef, PublicChannel } from './channel.ts';
import { findCredentials, type SealedCredentials } from './store.ts';

/** Decrypted credentials and sending limits of a channel. */
export type OpenCredentials = ChannelCredentials & {
  readonly messagesPerSecond: number;
  readonly status: PublicChannel['status'];
  readonly isTenantSuspended: boolean;
};

export async function credentialsOf(
  { db, secrets }: Pick<Resources, 'db' | 'secrets'>,
  tenantId: number,
  channelId: number,
): Promise<OpenCredentials | undefined> {
  const [credentials] = await credentialsOfMany({ db, secrets }, [{ tenantId, channelId }]);
  return credentials;
}

/** Credentials of channels of any tenants, in the order given, in one statement. */
export async function credentialsOfMany(
  { db, secrets }: Pick<Resources, 'db' | 'secrets'>,
  channels: readonly ChannelRef[],
): Promise<(OpenCredentials | undefined)[]> {
  const rows = await findCredentials(db.write, channels);
  return rows.map(row => row && openCredentials(secrets, row));
}

/** Decrypts the access token, which must only reach the network client. */
const openCredentials = (secrets: Resources['secrets'], row: SealedCredentials): OpenCredentials => ({
  phoneNumberId: row.phone_number_id,
  wabaId: row.waba_id,
  accessToken: secrets.open(row.access_token_sealed),
  messagesPerSecond: row.messages_per_second,
  status: row.status,
  isTenantSuspended: row.tenant_status === 'suspended',
});
