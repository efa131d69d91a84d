import type { Db } from '../../platform/database.ts';
import { listChannels } from './store.ts';

/** The tenant's channels by the network's id of their number. */
export async function channelsByNumber(
  db: Db,
  tenantId: number,
  phoneNumberIds: readonly string[],
): Promise<Map<string, number>> {
  if (phoneNumberIds.length === 0) return new Map();
  const channels = await listChannels(db, tenantId);
  return new Map(
    channels
      .filter(channel => phoneNumberIds.includes(channel.phone_number_id))
      .map(channel => [channel.phone_number_id, channel.id]),
  );
}
