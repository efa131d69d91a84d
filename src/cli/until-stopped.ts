import type { Config } from '../config.ts';
import { SECOND } from '../platform/clock.ts';

/** A stop that takes longer is given up: the sender of the signal would kill the process anyway. */
const STOP_LIMIT_MS = 10 * SECOND;
const PARENT_CHECK_MS = SECOND;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs until a signal asks to stop, then stops gracefully, within 10 s. A second signal ends at once.
 * Started by npm, it also stops when npm is gone: a killed npm does not pass its signal on.
 */
export async function untilStopped(
  config: Config,
  start: (signal: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const starting = new AbortController();
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) process.exit(130);
    asked.resolve();
    starting.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const parent = process.ppid;
  const watch = config.startedByNpm
    ? setInterval(() => process.ppid !== parent && asked.resolve(), PARENT_CHECK_MS)
    : undefined;
  try {
    // Half-started parts could not be stopped in order: a signal during a start waits for it, unless it only waits itself.
    const stop = await start(starting.signal).catch((error: unknown) => {
      if (starting.signal.aborted && error instanceof Error && error.name === 'AbortError') return undefined;
      throw error;
    });
    if (!stop) return;
    await asked.promise;
    const impatient = setTimeout(() => {
      process.stderr.write('Stopping took too long; ending now.\n');
      process.exit(1);
    }, STOP_LIMIT_MS);
    impatient.unref();
    await stop();
    clearTimeout(impatient);
  } finally {
    // After a start that failed as well: a watch left behind would keep the process.
    clearInterval(watch);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}
