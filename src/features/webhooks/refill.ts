import type { Resources } from '../../context.ts';
import type { EndpointQueue } from './endpoint-queue.ts';
import { findTargets } from './endpoints-store.ts';
import { endpointKey } from './lane.ts';
import { byIndex, type Claimed, nextDeliveries } from './queue-store.ts';
import { openTarget } from './target.ts';

/** Deliveries fetched for one endpoint at once, and for all endpoints together. */
const PER_ENDPOINT = 100;
const TOGETHER = 1_000;
const AT_LEAST = 4;

/** Fetches the next deliveries of the endpoints of a shard: of all that want some at this moment in two statements. */
export class Refiller {
  readonly #resources: Resources;
  readonly #shard: number;
  readonly #waiting = new Map<EndpointQueue, PromiseWithResolvers<void>>();
  #isRunning = false;

  constructor(resources: Resources, shard: number) {
    this.#resources = resources;
    this.#shard = shard;
  }

  /**
   * Resolves when the queue was filled, or told that it cannot be. Never rejects. A queue that waits already waits once: asked
   * for twice in one statement, its deliveries would come twice.
   */
  fetch(queue: EndpointQueue): Promise<void> {
    const waiting = this.#waiting.get(queue) ?? Promise.withResolvers<void>();
    this.#waiting.set(queue, waiting);
    this.#start();
    return waiting.promise;
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    // All that begin in the same moment are fetched together.
    setImmediate(async () => {
      await this.#fill();
      this.#isRunning = false;
      if (this.#waiting.size > 0) this.#start();
    });
  }

  async #fill(): Promise<void> {
    const { db, clock, secrets } = this.#resources;
    const asked = [...this.#waiting].slice(0, TOGETHER / AT_LEAST);
    for (const [queue] of asked) this.#waiting.delete(queue);
    const wanted = asked.flatMap(([queue]) => queue.wanted ?? []);
    const limit = Math.min(PER_ENDPOINT, Math.max(AT_LEAST, Math.floor(TOGETHER / wanted.length)));
    try {
      const nowMs = clock.now();
      const nowIso = new Date(nowMs).toISOString();
      const [targets, rows] = await Promise.all([
        findTargets(
          db.read,
          asked.map(([queue]) => queue),
        ),
        wanted.length > 0 ? byIndex(db, trx => nextDeliveries(trx, this.#shard, wanted, limit, nowIso)) : [],
      ]);
      const byKey = new Map(targets.map(target => [endpointKey(target.tenant_id, target.id), target]));
      const deliveries = Map.groupBy<string, Claimed>(rows, row => endpointKey(row.tenant_id, row.endpoint_id));
      const wanting = new Set(wanted.map(one => endpointKey(one.tenantId, one.endpointId)));
      for (const [queue] of asked) {
        try {
          queue.fill(byKey.get(queue.key), target => openTarget(secrets, target, nowMs));
        } catch (error) {
          queue.fail(new Error('The secrets of the endpoint cannot be opened.', { cause: error }));
        }
        const found = deliveries.get(queue.key) ?? [];
        if (wanting.has(queue.key)) queue.add(found, found.length >= limit);
      }
    } catch (error) {
      for (const [queue] of asked) queue.fail(new Error('Deliveries could not be read.', { cause: error }));
    }
    for (const [, { resolve }] of asked) resolve();
  }
}
