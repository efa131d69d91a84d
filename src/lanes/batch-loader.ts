import DataLoader from 'dataloader';

export interface BatchLoaderOptions {
  /** Maximum number of requests per batch. */
  readonly maxSize: number;
  /** Maximum number of concurrent batches; further requests join the next batch. */
  readonly maxRunning: number;
}

/**
 * Combines concurrent requests of a process's lanes into one statement, without a cache. Requests of one event loop turn, and those
 * that arrive while `maxRunning` batches run, share a batch. A failed batch is repeated request by request, so that a request fails
 * alone.
 *
 * @param run returns results in the order of the requests
 */
export function createBatchLoader<Request, Result>(
  run: (requests: readonly Request[]) => Promise<readonly Result[]>,
  { maxSize, maxRunning }: BatchLoaderOptions,
): DataLoader<Request, Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  function next(): void {
    if (running >= maxRunning) return;
    const dispatch = waiting.shift();
    if (!dispatch) return;
    running += 1;
    dispatch();
  }
  const runEach = (requests: readonly Request[]): Promise<(Result | Error)[]> =>
    Promise.all(
      requests.map(request =>
        run([request]).then(
          ([result]) => result as Result,
          (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
        ),
      ),
    );
  return new DataLoader<Request, Result>(
    async requests => {
      try {
        return await run(requests).catch(() => runEach(requests));
      } finally {
        running -= 1;
        next();
      }
    },
    {
      cache: false,
      maxBatchSize: maxSize,
      batchScheduleFn: dispatch => {
        setImmediate(() => {
          waiting.push(dispatch);
          next();
        });
      },
    },
  );
}
