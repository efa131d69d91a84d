export interface BatcherOptions {
  /** Maximum number of requests per batch. */
  readonly maxSize: number;
  /** Maximum number of concurrent batches; further requests wait for the next batch. */
  readonly maxRunning: number;
}

interface Pending<Request, Result> {
  readonly request: Request;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Combines concurrent requests of a process's lanes into one statement. */
export class Batcher<Request, Result> {
  readonly #run: (requests: readonly Request[]) => Promise<readonly Result[]>;
  readonly #options: BatcherOptions;
  #waiting: Pending<Request, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  /** @param run returns results in the order of the requests */
  constructor(run: (requests: readonly Request[]) => Promise<readonly Result[]>, options: BatcherOptions) {
    this.#run = run;
    this.#options = options;
  }

  /** @throws the error that `run` returned for this request; other requests of the batch are not affected */
  submit(request: Request): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#running >= this.#options.maxRunning) return;
    this.#isScheduled = true;
    // Requests of the same event loop turn join the batch.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#next();
    });
  }

  async #next(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#options.maxSize);
    this.#running += 1;
    this.#schedule();
    try {
      await this.#execute(batch);
    } finally {
      this.#running -= 1;
      this.#schedule();
    }
  }

  async #execute(batch: readonly Pending<Request, Result>[]): Promise<void> {
    try {
      const results = await this.#run(batch.map(({ request }) => request));
      if (results.length !== batch.length)
        throw new RangeError(`A batch of ${batch.length} requests returned ${results.length} results.`);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      const [first] = batch;
      if (batch.length === 1) first?.reject(error);
      else for (const one of batch) await this.#execute([one]);
    }
  }
}
