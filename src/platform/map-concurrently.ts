/**
 * Maps the values of a source concurrently, up to `limit` at a time, and yields the results in the source's order. Values are
 * requested ahead, so that waiting work (database reads) overlaps.
 *
 * Ends when the source ends, after all results. If the consumer returns early, the source is closed; it must be closable while it waits
 * (`closable`).
 *
 * @param failed creates the last value if the source throws
 */
export function mapConcurrently<In, Out>(
  source: AsyncIterator<In>,
  limit: number,
  map: (value: In) => Promise<Out>,
  failed: (error: unknown) => Out,
): AsyncGenerator<Out> {
  const results: Promise<Out>[] = [];
  let isPulling = false;
  let ended: { readonly error?: unknown } | undefined;
  let wakeUp: (() => void) | undefined;

  const onEnd = (end: { readonly error?: unknown }): void => {
    isPulling = false;
    ended = end;
    wakeUp?.();
  };
  const onValue = ({ done, value }: IteratorResult<In>): void => {
    if (done) {
      onEnd({});
      return;
    }
    isPulling = false;
    const out = map(value);
    // Awaited later, in order; until then a rejection must not count as unhandled.
    out.catch(() => undefined);
    results.push(out);
    wakeUp?.();
    pull();
  };
  function pull(): void {
    if (isPulling || ended || results.length >= limit) return;
    isPulling = true;
    void source.next().then(onValue, error => onEnd({ error }));
  }

  async function* values(): AsyncGenerator<Out> {
    try {
      for (;;) {
        const [next] = results;
        if (next) {
          const value = await next;
          results.shift();
          pull();
          yield value;
        } else if (ended) {
          if ('error' in ended) yield failed(ended.error);
          return;
        } else {
          pull();
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
