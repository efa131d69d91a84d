import type { Clock } from '../../src/platform/clock.ts';

/**
 * A clock at a tenth of the real speed, which a test moves ahead: what has to happen within some seconds of it does so on a busy
 * machine too. Slow rather than still, because rates are measured on it.
 */
export function createSlowClock(): Clock & { ahead(ms: number): void } {
  const startedAt = Date.now();
  let aheadMs = 0;
  const now = (): number => startedAt + aheadMs + (Date.now() - startedAt) / 10;
  return {
    now,
    monotonic: now,
    ahead(ms) {
      aheadMs += ms;
    },
  };
}
