import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MINUTE, SECOND } from './clock.ts';

const EVERY_BYTES = 8 * 1024 * 1024;
const IDLE_CHECK_MS = 10 * SECOND;
/** Checks of the first minute, after one of which the memory of the start is released. */
const START_CHECKS = 6;
/** Consecutive idle checks before the memory of earlier requests is released. */
const IDLE_CHECKS = (10 * MINUTE) / IDLE_CHECK_MS;
/** A process is idle while its event loop is busy for at most this share of the time: `serve` without requests needs 0.01 to 0.04. */
const IDLE_UTILIZATION = 0.1;

type Collect = (options: { readonly type: 'minor' | 'major'; readonly flavor?: 'last-resort' }) => void;

let collect: Collect | undefined;

/** The process's garbage collector. V8 exposes it only to contexts created after the flag is set. */
function collector(): Collect {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
    setFlagsFromString('--no-expose-gc');
  }
  return collect;
}

/**
 * Triggers minor garbage collections while a large file is streamed. Each chunk is a buffer outside the heap, which V8 frees only when
 * it counts about 50 MB of them: the first file of 100 MB used 46 MB of resident memory, but 5 MB with a minor collection (about
 * 1 ms) every 8 MB. Later files use the same amount either way. Small files never trigger one.
 *
 * @returns a function to call with the size of each chunk that was processed
 */
export function createMinorCollector(): (bytes: number) => void {
  let bytesSinceCollection = 0;
  return bytes => {
    bytesSinceCollection += bytes;
    if (bytesSinceCollection < EVERY_BYTES) return;
    bytesSinceCollection = 0;
    collector()({ type: 'minor' });
  };
}

/**
 * Returns memory to the system once after the start, as soon as the process is idle, and once after each busy time, when it has been
 * idle for ten minutes: a pause of 170 to 190 ms on slow cores. A full collection also discards code that V8 has optimized for kinds of
 * objects of which none is left: lists take three times the CPU in the first second after it, and twice in the next two. Therefore
 * shorter pauses between requests cause no collection.
 *
 * V8's memory reducer would collect after eight seconds in which little was allocated; `launch.js` and the image run without it. Do not change its
 * flags at run time: `--memory-reducer-gc-count` crashes a process that has begun a collection, and the others are read at the start. A limit of the
 * young generation makes lists a third slower, because objects of requests in progress are promoted to the old generation.
 *
 * @returns a function that ends the checks
 */
export function releaseMemoryWhenIdle(checkMs = IDLE_CHECK_MS, release = collectAll): () => void {
  let last = performance.eventLoopUtilization();
  let checks = 0;
  let idleChecks = 0;
  let neededChecks = 1;
  const check = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isBusy = performance.eventLoopUtilization(now, last).utilization > IDLE_UTILIZATION;
    last = now;
    checks += 1;
    if (checks > START_CHECKS) neededChecks = IDLE_CHECKS;
    idleChecks = isBusy ? 0 : idleChecks + 1;
    if (idleChecks !== neededChecks) return;
    release();
    neededChecks = IDLE_CHECKS;
    // Not again before the process has been busy.
    idleChecks = IDLE_CHECKS;
  }, checkMs);
  return () => clearInterval(check);
}

/** Also returns to the system what the heap does not need, the young generation above all. */
const collectAll = (): void => collector()({ type: 'major', flavor: 'last-resort' });
