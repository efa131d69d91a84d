/** The queue of outbound messages. */
export const OUTBOX = 'outbox';

/** Key of a lane; a channel has one lane. */
export const laneOf = (tenantId: number, channelId: number): string => `${tenantId}:${channelId}`;

export function parseLane(key: string): { tenantId: number; channelId: number } {
  const [tenantId = Number.NaN, channelId = Number.NaN] = key.split(':').map(Number);
  return { tenantId, channelId };
}

/** Priorities of messages in a lane, lowest number first. Within a priority, messages to one contact keep the order of acceptance. */
export const PRIORITY = {
  otp: 0,
  /** Free-form content inside an open service window. */
  answer: 1,
  /** Templates and other single messages. */
  single: 2,
  campaign: 3,
} as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** Stored in place of a priority for scheduled messages, which have no turns and are claimed by no lane. */
export const SCHEDULED = 4;

export const PRIORITIES: readonly Priority[] = Object.values(PRIORITY);
