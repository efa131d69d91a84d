import type { Resources } from '../../context.ts';
import type { HealthChange } from './endpoints-store.ts';
import { record, type TenantAttempt } from './record.ts';

/** Attempts are written together: all that came in within this time, unless there are many, or somebody waits for it. */
const FLUSH_MS = 100;
const HURRY_MS = 5;
const MANY = 250;
const BATCH = 500;
/** What cannot be written is tried again so often. After that it is given up, and delivered again. */
const MAX_WRITES = 6;
/** While so many attempts are not written, no more are made: should this process die, these are the ones that come twice. */
const MAX_WAITING = 1_000;

interface Entry {
  readonly attempted: TenantAttempt;
  readonly health: HealthChange | undefined;
  done(): void;
}

/** Writes attempts down while the next ones are made, several times a second and many at once. Never rejects. */
export class Recorder {
  readonly #resources: Resources;
  #entries: Entry[] = [];
  #writing: Promise<void> | undefined;
  #failures = 0;
  /** Shortens the pause before the next writing. */
  #alarm: (() => void) | undefined;
  /** Since the last writing began. */
  #isHurried = false;

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** @returns when it is written, or given up */
  add(attempted: TenantAttempt, health: HealthChange | undefined): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    this.#entries.push({ attempted, health, done });
    this.#schedule();
    if (this.#entries.length >= MANY) this.hurry();
    return promise;
  }

  /** Somebody waits until what was added is written. */
  hurry(): void {
    this.#isHurried = true;
    if (this.#failures === 0) this.#alarm?.();
  }

  /** Waits while too much is not written. */
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
      let timer = setTimeout(resolve, FLUSH_MS * 3 ** this.#failures);
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

/** Of several changes of one endpoint's health the last one, unless one of them disables it. */
function lastOfEach(entries: readonly Entry[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { health } of entries) {
    if (!health) continue;
    const key = `${health.tenantId}:${health.endpointId}`;
    if (!changes.get(key)?.disable) changes.set(key, health);
  }
  return [...changes.values()];
}
