import { LRUCache } from 'lru-cache';
import type { EventType } from '../core/events.ts';
import { MINUTE } from '../platform/clock.ts';

/** How long payloads are still read after an unsubscribe, so that a reconnecting client is replayed from memory. */
const LINGER_MS = MINUTE;
/** Maximum number of lingering keys. */
const MAX_LINGERING = 10_000;

/**
 * The tenants and event types with subscribers in this process. Kept apart, so that a statement filters by two short lists; the
 * combination may match slightly too much, never too little.
 */
export class Interests {
  readonly #tenants = new LingeringCounts<number>();
  readonly #types = new LingeringCounts<EventType>();

  /** @returns a function that removes the interest; call it once */
  add(tenantId: number, types: ReadonlySet<EventType>): () => void {
    this.#tenants.add(tenantId);
    for (const type of types) this.#types.add(type);
    return () => {
      this.#tenants.remove(tenantId);
      for (const type of types) this.#types.remove(type);
    };
  }

  has(tenantId: number, type: EventType): boolean {
    return this.#tenants.has(tenantId) && this.#types.has(type);
  }

  get tenants(): readonly number[] {
    return this.#tenants.keys();
  }

  get types(): readonly EventType[] {
    return this.#types.keys();
  }
}

/** Reference-counted keys; a key lingers for a while after its last removal. */
class LingeringCounts<K extends number | string> {
  readonly #counts = new Map<K, number>();
  readonly #lingering = new LRUCache<K, true>({ max: MAX_LINGERING, ttl: LINGER_MS });

  add(key: K): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  remove(key: K): void {
    const left = (this.#counts.get(key) ?? 0) - 1;
    if (left > 0) this.#counts.set(key, left);
    else {
      this.#counts.delete(key);
      this.#lingering.set(key, true);
    }
  }

  has(key: K): boolean {
    return this.#counts.has(key) || this.#lingering.has(key);
  }

  keys(): readonly K[] {
    return [...new Set([...this.#counts.keys(), ...this.#lingering.keys()])];
  }
}
