/** The queue of channels that have something to send. */
export const OUTBOX = 'outbox';

/** One lane per channel. */
export const laneOf = (tenantId: number, channelId: number): string => `${tenantId}:${channelId}`;

export function parseLane(key: string): { tenantId: number; channelId: number } {
  const [tenantId = Number.NaN, channelId = Number.NaN] = key.split(':').map(Number);
  return { tenantId, channelId };
}
