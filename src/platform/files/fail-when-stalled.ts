import { Readable } from 'node:stream';

/**
 * Passes on a stream, and fails if its source has no bytes for `ms` although they are wanted. Unlike in a timeout of the socket, the time in
 * which the reader is busy does not count.
 */
export function failWhenStalled(source: Readable, ms: number): Readable {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const expectBytes = () => {
    stop();
    timer = setTimeout(() => passed.destroy(new Error(`no bytes for ${ms / 1_000} s`)), ms);
  };
  const passed = new Readable({
    read() {
      expectBytes();
      source.resume();
    },
    destroy(error, callback) {
      stop();
      source.destroy();
      callback(error);
    },
  });
  source.pause();
  source.on('data', chunk => {
    if (passed.push(chunk)) expectBytes();
    else {
      stop();
      source.pause();
    }
  });
  source.on('end', () => {
    stop();
    passed.push(null);
  });
  source.on('error', error => passed.destroy(error));
  return passed;
}
