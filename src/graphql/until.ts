import { closable } from '../platform/closable.ts';

/**
 * A stream that can be ended from outside, also while nobody writes into it.
 * @param stream one that can be ended while it waits (`closable`)
 * @param watch begins to watch for the end, and returns what stops it
 * @param last given before the end when the end came from outside
 */
export function endWith<T>(
  stream: AsyncGenerator<T>,
  watch: (end: () => void) => () => void,
  last: T,
): AsyncGenerator<T> {
  return closable(until(stream, watch, last), () => void stream.return(undefined));
}

async function* until<T>(
  stream: AsyncGenerator<T>,
  watch: (end: () => void) => () => void,
  last: T,
): AsyncGenerator<T> {
  let ended = false;
  // Not a race of each event against the end: every race would leave something behind in a promise that lives for days.
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
