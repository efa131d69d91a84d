/** Lanes of files that wait to be fetched from the network: one per channel, whose token they need. */
export const MEDIA = 'media';

export const mediaLane = (tenantId: number, channelId: number): string => `${tenantId}:${channelId}`;

/** Parses the key of a lane. */
export function parseMediaLane(key: string): { readonly tenantId: number; readonly channelId: number } {
  const [tenantId, channelId] = key.split(':').map(Number);
  if (!Number.isSafeInteger(tenantId) || !Number.isSafeInteger(channelId))
    throw new Error(`"${key}" is not the key of a lane of files.`);
  return { tenantId, channelId } as { tenantId: number; channelId: number };
}
