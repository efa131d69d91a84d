import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_BYTES = 8 * 1024 * 1024;

type Collect = (options: { readonly type: 'minor' }) => void;

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
