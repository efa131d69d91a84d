/**
 * What `map` makes of each value, in the order of the source, while up to `limit` are being made. A value is asked for
 * before the one before it was taken, so that work which waits (a look at a database) waits once and not value after value.
 *
 * Ends as the source ends, after all that came before. Whoever leaves ends the source, which has to be one that can be
 * ended while it waits (`closable`).
 *
 * @param failed what is given last when the source ended with an error
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
    // It is looked at when its turn comes; until then a failure is nobody's.
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
