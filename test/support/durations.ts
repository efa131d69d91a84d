const TICK_MS = 10;
/** A tick counts for at most this. */
const MAX_TICK_MS = 2 * TICK_MS;

/**
 * Measures how long work takes without the time in which other processes had the processor: a tick that comes late counts as one. On an
 * idle machine it is elapsed time.
 * @returns milliseconds in which this process could run
 */
export async function durationOf(work: () => Promise<unknown>): Promise<number> {
  let counted = 0;
  let last = performance.now();
  const count = (): void => {
    const now = performance.now();
    counted += Math.min(now - last, MAX_TICK_MS);
    last = now;
  };
  const ticking = setInterval(count, TICK_MS);
  try {
    await work();
  } finally {
    clearInterval(ticking);
  }
  count();
  return counted;
}

/** @returns milliseconds of CPU time that the work takes on this thread */
export async function costOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Elapsed time per CPU time of this process at the moment; 1 on an idle machine. Divide by it the duration of work that other processes
 * take part in, such as the database.
 */
export function elapsedPerCpuTime(): number {
  const from = performance.now();
  const before = process.threadCpuUsage();
  let spentMs = 0;
  while (spentMs < 100) {
    const { user, system } = process.threadCpuUsage(before);
    spentMs = (user + system) / 1_000;
  }
  return Math.max(1, (performance.now() - from) / spentMs);
}
