import type { Config } from '../config.ts';
import { SECOND } from '../platform/clock.ts';
import { releaseMemoryWhenIdle } from '../platform/garbage-collection.ts';

/** The process exits after this, because the sender of the signal would kill it anyway. */
const STOP_LIMIT_MS = 10 * SECOND;
const PARENT_CHECK_MS = SECOND;
/** Signals that end a process. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs until a signal requests a stop, then stops gracefully, within 10 s, also of a start that hangs. A second signal exits at once.
 * If started by npm, it also stops when npm has ended, because a killed npm does not forward its signal.
 */
export async function untilStopped(
  config: Config,
  start: (signal: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> {
  const stopRequested = Promise.withResolvers<void>();
  const starting = new AbortController();
  let deadline: NodeJS.Timeout | undefined;
  const requestStop = (): void => {
    stopRequested.resolve();
    starting.abort();
    deadline ??= setTimeout(() => {
      process.stderr.write('The stop exceeded its time limit; exiting now.\n');
      process.exit(1);
    }, STOP_LIMIT_MS).unref();
  };
  const onSignal = (): void => {
    if (deadline) process.exit(130);
    requestStop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const stopReleasing = releaseMemoryWhenIdle();
  const parent = process.ppid;
  const watch = config.startedByNpm
    ? setInterval(() => process.ppid !== parent && requestStop(), PARENT_CHECK_MS)
    : undefined;
  try {
    // A partial start cannot be stopped in order: a signal during the start takes effect after it, or aborts a mere wait.
    const stop = await start(starting.signal).catch((error: unknown) => {
      if (starting.signal.aborted && error instanceof Error && error.name === 'AbortError') return undefined;
      throw error;
    });
    if (!stop) return;
    await stopRequested.promise;
    await stop();
  } finally {
    clearTimeout(deadline);
    // Also after a failed start: a remaining timer would keep the process alive.
    clearInterval(watch);
    stopReleasing();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
