/**
 * A generator that can be ended while it waits. On its own it cannot: `return` queues behind the `next` that is under
 * way, and a quiet stream's `next` may take for ever. Whoever leaves would leave the stream and its source behind.
 *
 * @param release ends what a pending `next` waits for, so that it resolves; may be called more than once
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
