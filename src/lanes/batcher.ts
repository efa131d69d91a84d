export interface BatcherOptions {
  /** Maximum number of requests per batch. */
  readonly maxSize: number;
  /** Maximum number of concurrent batches; further requests wait for the next batch. */
  readonly maxRunning: number;
}

interface Pending<Request, Answer> {
  readonly request: Request;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Combines concurrent requests of a process's lanes into one statement. */
export class Batcher<Request, Answer> {
  readonly #run: (requests: readonly Request[]) => Promise<readonly Answer[]>;
  readonly #options: BatcherOptions;
  #waiting: Pending<Request, Answer>[] = [];
  #running = 0;
  #isScheduled = false;

  /** @param run returns results in the order of the requests */
  constructor(run: (requests: readonly Request[]) => Promise<readonly Answer[]>, options: BatcherOptions) {
    this.#run = run;
    this.#options = options;
  }

  /** @throws the error that `run` returned for this request; other requests of the batch are not affected */
  ask(request: Request): Promise<Answer> {
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
      await this.#answer(batch);
    } finally {
      this.#running -= 1;
      this.#schedule();
    }
  }

  async #answer(batch: readonly Pending<Request, Answer>[]): Promise<void> {
    try {
      const answers = await this.#run(batch.map(({ request }) => request));
      if (answers.length !== batch.length)
        throw new RangeError(`A batch of ${batch.length} requests got ${answers.length} answers.`);
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      const [first] = batch;
      if (batch.length === 1) first?.reject(error);
      else for (const one of batch) await this.#answer([one]);
    }
  }
}
