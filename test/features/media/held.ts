import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of buffers that are really held; how much garbage there may be beside them is for test/bench/media-memory.ts to say. */
export function held(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}
