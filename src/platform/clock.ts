/** The only source of time. Tests pass a clock that they control. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic milliseconds; this clock stops while a virtual machine is suspended. Default: that of the system. */
  monotonic?(): number;
}

export const systemClock = { now: () => Date.now(), monotonic: () => performance.now() } satisfies Clock;

/** An instant on both clocks, so that a suspension or a clock change since then can be detected. */
export interface Instant {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export const instantOf = (clock: Clock): Instant => ({
  wallMs: clock.now(),
  monotonicMs: clock.monotonic ? clock.monotonic() : performance.now(),
});

/** Time since an instant, in milliseconds, by the clock that shows more: one is set back, the other stands still while a machine sleeps. */
export function elapsedMs(clock: Clock, since: Instant): number {
  const now = instantOf(clock);
  return Math.max(now.wallMs - since.wallMs, now.monotonicMs - since.monotonicMs);
}

/** Whether at least `ms` have passed since an instant by either clock. */
export const hasPassed = (clock: Clock, since: Instant, ms: number): boolean => elapsedMs(clock, since) >= ms;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * Exponential back-off in milliseconds: `firstMs` at step 0, multiplied by `factor` (default 2) at each further step, at most `maxMs`.
 */
export const exponentialBackoffMs = (
  step: number,
  { firstMs, factor = 2, maxMs = DAY }: { readonly firstMs: number; readonly factor?: number; readonly maxMs?: number },
): number => Math.min(maxMs, firstMs * factor ** step);
