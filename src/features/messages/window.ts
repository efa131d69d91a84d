import { HOUR } from '../../platform/clock.ts';

/** The customer service window: free-form messages are allowed for 24 hours after the person's last message (cloud-api §8). */
export interface ServiceWindow {
  readonly open: boolean;
  /** ISO 8601; null if the person never wrote. */
  readonly expiresAt: string | null;
}

const WINDOW_MS = 24 * HOUR;

export const windowOf = (expiresAt: string | null, nowMs: number): ServiceWindow => ({
  open: expiresAt !== null && Date.parse(expiresAt) > nowMs,
  expiresAt,
});

/** The end of the window that an inbound message opens. */
export const windowAfter = (receivedAtMs: number): string => new Date(receivedAtMs + WINDOW_MS).toISOString();
