import { useEffect, useState } from 'react';

/** Smaller differences are latency, and the fraction of a second that the header `Date` lacks. */
const SAME_MS = 10_000;

let aheadMs = 0;

/** Compares this computer's clock with the gateway's. @param date the header `Date` of an answer that has just arrived */
export function compareClock(date: string | null): void {
  const ms = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(ms)) aheadMs = Math.abs(ms) < SAME_MS ? 0 : ms;
}

/**
 * The present time by the gateway's clock, in milliseconds since the epoch. This computer's clock may be wrong, and the gateway decides
 * when windows and sessions end.
 */
export const presentTime = (): number => Date.now() + aheadMs;

/** The present time, which advances by itself. Milliseconds since the epoch. */
export function useNow(everyMs = 30_000): number {
  const [now, setNow] = useState(presentTime);
  useEffect(() => {
    const timer = setInterval(() => setNow(presentTime()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
