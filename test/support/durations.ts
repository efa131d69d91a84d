const TICK_MS = 10;
/** What one tick counts at the most. */
const MOST_MS = 2 * TICK_MS;

/**
 * How long something takes, for a bound in time that must not hang on what else the machine does: a tick that comes late,
 * because others had the processor, counts as one. On a machine at rest it is a clock.
 * @returns milliseconds in which this process could run
 */
export async function durationOf(work: () => Promise<unknown>): Promise<number> {
  let counted = 0;
  let last = performance.now();
  const count = (): void => {
    const now = performance.now();
    counted += Math.min(now - last, MOST_MS);
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

/** @returns milliseconds of processor time that the work takes on this thread */
export async function costOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * How many share the processor with this process at the moment: by so much, what takes time in other processes too is to be
 * divided. 1 on a machine at rest.
 */
export function crowding(): number {
  const from = performance.now();
  const before = process.threadCpuUsage();
  let spentMs = 0;
  while (spentMs < 100) {
    const { user, system } = process.threadCpuUsage(before);
    spentMs = (user + system) / 1_000;
  }
  return Math.max(1, (performance.now() - from) / spentMs);
}
