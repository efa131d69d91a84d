import type { Resources } from '../../context.ts';
import type { ChannelCredentials } from '../../network/network.ts';
import type { ChannelRow } from './channel.ts';
import { getCredentials } from './store.ts';

/** What sending on a channel needs. The access token is opened here and goes no further than the network client. */
export async function credentialsOf(
  { db, secrets }: Pick<Resources, 'db' | 'secrets'>,
  tenantId: number,
  channelId: number,
): Promise<
  (ChannelCredentials & { readonly messagesPerSecond: number; readonly status: ChannelRow['status'] }) | undefined
> {
  const row = await getCredentials(db.write, tenantId, channelId);
  return (
    row && {
      phoneNumberId: row.phone_number_id,
      wabaId: row.waba_id,
      accessToken: secrets.open(row.access_token_sealed),
      messagesPerSecond: row.messages_per_second,
      status: row.status,
    }
  );
}
