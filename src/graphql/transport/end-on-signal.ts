import { closable } from '../../platform/closable.ts';

/**
 * Ends a stream when its token is revoked or expires, also while it is idle.
 * @param stream a generator that can be ended while it waits (`closable`)
 * @param watch starts watching for the signal; returns a function that stops watching
 * @param last emitted before a stream is ended by the signal
 */
export function endOnSignal<T>(
  stream: AsyncGenerator<T>,
  watch: (end: () => void) => () => void,
  last: T,
): AsyncGenerator<T> {
  async function* values(): AsyncGenerator<T> {
    let ended = false;
    // Not Promise.race per event: each race would leave a reaction on a promise that lives for days.
    const stop = watch(() => {
      ended = true;
      void stream.return(undefined);
    });
    try {
      for await (const value of stream) yield value;
      if (ended) yield last;
    } finally {
      stop();
    }
  }
  return closable(values(), () => void stream.return(undefined));
}
