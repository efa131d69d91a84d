/**
 * Makes a generator that can be ended while it waits. In a plain generator `return` queues behind the pending `next`, which may
 * never resolve on a quiet stream, so that a disconnected client would leak the stream and its source.
 *
 * @param release makes a pending `next` resolve; may be called more than once
 */
export function closable<T>(generator: AsyncGenerator<T>, release: () => void): AsyncGenerator<T> {
  return {
    next: () => generator.next(),
    return(value) {
      release();
      return generator.return(value);
    },
    throw(error) {
      release();
      return generator.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      release();
      await generator.return(undefined);
    },
  };
}
