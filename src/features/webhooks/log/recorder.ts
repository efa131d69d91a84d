import { exponentialBackoffMs } from '../../../platform/clock.ts';
import type { Resources } from '../../../schema/context.ts';
import type { HealthChange } from '../endpoints/targets.sql.ts';
import { record, type TenantAttempt } from './record.ts';

/** Attempts are written in batches after this time; sooner if there are many or a caller waits. */
const FLUSH_MS = 100;
const HURRY_MS = 5;
const MANY = 250;
const BATCH = 500;
/** Attempts to write a batch. After the last one it is dropped, and its deliveries are repeated. */
const MAX_WRITES = 6;
/** Maximum number of unwritten attempts: if the process dies, these deliveries are repeated. */
const MAX_WAITING = 1_000;

interface Entry {
  readonly attempted: TenantAttempt;
  readonly health: HealthChange | undefined;
  done(): void;
}

/** Writes attempts in batches, several times a second, while further attempts are made. Never rejects. */
export class Recorder {
  readonly #resources: Resources;
  #entries: Entry[] = [];
  #writing: Promise<void> | undefined;
  #failures = 0;
  /** Shortens the pause before the next batch. */
  #alarm: (() => void) | undefined;
  /** Whether a caller has been waiting since the last batch began. */
  #isHurried = false;

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** Resolves when the attempt is written or dropped. */
  add(attempted: TenantAttempt, health: HealthChange | undefined): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    this.#entries.push({ attempted, health, done });
    this.#schedule();
    if (this.#entries.length >= MANY) this.hurry();
    return promise;
  }

  /** Requests that pending attempts be written soon. */
  hurry(): void {
    this.#isHurried = true;
    if (this.#failures === 0) this.#alarm?.();
  }

  /** Waits while there are too many unwritten attempts. */
  async room(): Promise<void> {
    while (this.#writing && this.#entries.length >= MAX_WAITING) await this.#writing;
  }

  async flushed(): Promise<void> {
    while (this.#writing) {
      this.hurry();
      await this.#writing;
    }
  }

  #schedule(): void {
    this.#writing ??= this.#pause()
      .then(() => this.#write())
      .finally(() => {
        this.#writing = undefined;
        if (this.#entries.length === 0) return;
        this.#schedule();
        if (this.#entries.length >= MANY || this.#isHurried) this.hurry();
      });
  }

  #pause(): Promise<void> {
    return new Promise(resolve => {
      let timer = setTimeout(resolve, exponentialBackoffMs(this.#failures, { firstMs: FLUSH_MS, factor: 3 }));
      this.#alarm = () => {
        this.#alarm = undefined;
        clearTimeout(timer);
        timer = setTimeout(resolve, HURRY_MS);
      };
    });
  }

  async #write(): Promise<void> {
    this.#isHurried = false;
    const batch = this.#entries.splice(0, BATCH);
    try {
      await record(
        this.#resources,
        batch.map(({ attempted }) => attempted),
        lastOfEach(batch),
      );
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      const givenUp = this.#failures >= MAX_WRITES;
      this.#resources.log.error({ err: error, attempts: batch.length, givenUp }, 'attempts could not be written');
      if (!givenUp) {
        this.#entries.unshift(...batch);
        return;
      }
      this.#failures = 0;
    }
    for (const { done } of batch) done();
  }
}

/** The last health change of each endpoint, or the one that disables it. */
function lastOfEach(entries: readonly Entry[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { health } of entries) {
    if (!health) continue;
    const key = `${health.tenantId}:${health.endpointId}`;
    if (!changes.get(key)?.disable) changes.set(key, health);
  }
  return [...changes.values()];
}
