import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const PAUSE_MS = 20;
const MOST_LOOKS = 25;
const STEADY = 256 * 1024;

/**
 * Bytes of buffers that are really held; how much garbage there may be beside them is for test/bench/media-memory.ts to say.
 * What was collected is swept by another thread, later on a busy machine: we look until a look finds no less than the one before.
 */
export async function retainedBytes(): Promise<number> {
  let last = Number.POSITIVE_INFINITY;
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    collect();
    await wait(PAUSE_MS);
    const now = process.memoryUsage().arrayBuffers;
    if (now > last - STEADY) return Math.min(now, last);
    last = now;
  }
  return last;
}
