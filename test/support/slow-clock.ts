import type { Clock } from '../../src/platform/clock.ts';

/**
 * A clock at a tenth of the real speed, which a test moves ahead. Something that must happen within a few seconds of it has ten times as
 * long, so that the test passes on a loaded machine too. It does not stand still, because rates are measured by it.
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
