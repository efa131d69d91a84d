/**
 * A stream that can be ended from outside, also while nobody writes into it.
 * @param watch begins to watch for the end, and returns what stops it
 * @param last given before the end when the end came from outside
 */
export function endWith<T>(stream: AsyncGenerator<T>, watch: (end: () => void) => () => void, last: T): AsyncGenerator<T> {
  return until(stream, watch, last);
}

async function* until<T>(stream: AsyncGenerator<T>, watch: (end: () => void) => () => void, last: T): AsyncGenerator<T> {
  const ENDED = Symbol('ended');
  let stop = (): void => {};
  const ended = new Promise<typeof ENDED>(resolve => {
    stop = watch(() => resolve(ENDED));
  });
  try {
    for (;;) {
      const next = await Promise.race([stream.next(), ended]);
      if (next === ENDED) {
        yield last;
        return;
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    stop();
    // Not awaited: the stream may wait for an event that never comes, and ends when its source is closed.
    void stream.return(undefined);
  }
}
