import { performance } from 'node:perf_hooks';

/** From this share of its time on, a process has more to do than it can. */
const STRAINED = 0.7;
const MEASURED_MS = 1_000;

/** @returns whether this process was busy nearly all the time since it was last asked, a second ago or more; asked sooner, the same again */
export function measureStrain(): () => boolean {
  let since = performance.eventLoopUtilization();
  let measuredAt = performance.now();
  let isStrained = false;
  return () => {
    if (performance.now() - measuredAt < MEASURED_MS) return isStrained;
    const now = performance.eventLoopUtilization();
    isStrained = performance.eventLoopUtilization(now, since).utilization >= STRAINED;
    since = now;
    measuredAt = performance.now();
    return isStrained;
  };
}
