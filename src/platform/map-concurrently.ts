/**
 * Maps the values of a source concurrently, up to `limit` at a time, and yields the results in the source's order. Values are
 * requested ahead, so that waiting work (database reads) overlaps.
 *
 * Ends when the source ends, after all results. If the consumer leaves, the source is ended; it must be endable while it waits
 * (`closable`).
 *
 * @param failed the last value if the source ends with an error
 */
export function mapAhead<In, Out>(
  source: AsyncIterator<In>,
  limit: number,
  map: (value: In) => Promise<Out>,
  failed: (error: unknown) => Out,
): AsyncGenerator<Out> {
  const made: Promise<Out>[] = [];
  let asking = false;
  let ended: { readonly error?: unknown } | undefined;
  let wakeUp: (() => void) | undefined;

  const onEnd = (end: { readonly error?: unknown }): void => {
    asking = false;
    ended = end;
    wakeUp?.();
  };
  const onValue = ({ done, value }: IteratorResult<In>): void => {
    if (done) {
      onEnd({});
      return;
    }
    asking = false;
    const out = map(value);
    // Awaited in its turn; until then a rejection must not count as unhandled.
    out.catch(() => undefined);
    made.push(out);
    wakeUp?.();
    ask();
  };
  function ask(): void {
    if (asking || ended || made.length >= limit) return;
    asking = true;
    void source.next().then(onValue, error => onEnd({ error }));
  }

  async function* values(): AsyncGenerator<Out> {
    try {
      for (;;) {
        const [next] = made;
        if (next) {
          const value = await next;
          made.shift();
          ask();
          yield value;
        } else if (ended) {
          if ('error' in ended) yield failed(ended.error);
          return;
        } else {
          ask();
          await new Promise<void>(resolve => {
            wakeUp = resolve;
          });
          wakeUp = undefined;
        }
      }
    } finally {
      await source.return?.();
    }
  }
  return values();
}
