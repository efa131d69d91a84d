import type { Clock } from '../platform/clock.ts';

/** Seconds per message for a pair of business and person, and the maximum burst. Source: Meta's throughput page. */
const PAIR_INTERVAL_MS = 6_000;
const PAIR_BURST = 45;

export interface RateLimit {
  /** Counts one message. @returns false, without counting, if the limit is exceeded */
  take(key: string): boolean;
}

/**
 * One message in six seconds to one person. A burst of up to 45 is allowed but has to be paid back: after a burst of 20 the next
 * message is accepted two minutes after the burst began.
 */
export function createPairLimit(clock: Clock): RateLimit {
  const pairs = new Map<string, { free: number; burstStart: number; burst: number }>();
  return {
    take(key) {
      const now = clock.now();
      const pair = pairs.get(key);
      if (!pair || now >= pair.free) {
        pairs.set(key, { free: now + PAIR_INTERVAL_MS, burstStart: now, burst: 1 });
        return true;
      }
      if (now - pair.burstStart >= PAIR_INTERVAL_MS || pair.burst >= PAIR_BURST) return false;
      pair.burst += 1;
      pair.free += PAIR_INTERVAL_MS;
      return true;
    },
  };
}

/** Messages per second of one number, as a token bucket of one second: a steady sender at the limit is never rejected. */
export function createThroughputLimit(clock: Clock, perSecond: (key: string) => number): RateLimit {
  const buckets = new Map<string, { level: number; at: number }>();
  return {
    take(key) {
      const now = clock.now();
      const rate = perSecond(key);
      const bucket = buckets.get(key) ?? { level: rate, at: now };
      bucket.level = Math.min(rate, bucket.level + ((now - bucket.at) * rate) / 1_000);
      bucket.at = now;
      buckets.set(key, bucket);
      if (bucket.level < 1) return false;
      bucket.level -= 1;
      return true;
    },
  };
}
