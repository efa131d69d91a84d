import { LRUCache } from 'lru-cache';
import type { EventType } from '../../events.ts';
import { MINUTE } from '../../platform/clock.ts';

/** Who went away may come back, and is then given what he has missed from memory: his events are read for so much longer. */
const LINGER_MS = MINUTE;
/** Of those who went away, so many are known. */
const MAX_LINGERING = 10_000;

/**
 * To whose events, and to which types of events, somebody in this process listens. Tenants and types are kept apart, so that
 * a statement can ask by two short lists; what both together let through and nobody wants is a little too much, never too little.
 */
export class Interests {
  readonly #tenants = new Counted<number>();
  readonly #types = new Counted<EventType>();

  /** @returns a function that takes it back; to be called once */
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

/** Keys that are there as often as they were added, and for a while longer. */
class Counted<K extends number | string> {
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
