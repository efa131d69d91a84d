import type { Resources } from '../../../schema/context.ts';
import type { EndpointQueue } from '../endpoints/endpoint-queue.ts';
import { openTarget } from '../endpoints/target.ts';
import { findTargets } from '../endpoints/targets.sql.ts';
import { endpointKey } from './lane.ts';
import { type DueDelivery, nextDeliveries, withIndexScans } from './queue.sql.ts';

/** Deliveries fetched for one endpoint at once; fewer for each if there are many endpoints. */
const MAX_PER_ENDPOINT = 100;
const MIN_PER_ENDPOINT = 4;
/** Deliveries fetched for all endpoints together. */
const MAX_TOTAL = 1_000;

/** Fetches the next deliveries of a shard's endpoints, with two statements for all concurrent requests. */
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
   * Resolves when the queue has been filled or failed. Never rejects. A queue that is already waiting is not added again: its
   * deliveries would be fetched twice.
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
    // Requests of the same event loop turn are fetched together.
    setImmediate(async () => {
      await this.#fill();
      this.#isRunning = false;
      if (this.#waiting.size > 0) this.#start();
    });
  }

  async #fill(): Promise<void> {
    const { db, secrets } = this.#resources;
    const beganAt = performance.now();
    const queues = [...this.#waiting].slice(0, MAX_TOTAL / MIN_PER_ENDPOINT);
    for (const [queue] of queues) this.#waiting.delete(queue);
    const wanted = queues.flatMap(([queue]) => queue.wanted ?? []);
    const limit = Math.min(MAX_PER_ENDPOINT, Math.max(MIN_PER_ENDPOINT, Math.floor(MAX_TOTAL / wanted.length)));
    try {
      const [targets, rows] = await Promise.all([
        findTargets(
          db.read,
          queues.map(([queue]) => queue),
        ),
        wanted.length > 0 ? withIndexScans(db, trx => nextDeliveries(trx, this.#shard, wanted, limit)) : [],
      ]);
      const byKey = new Map(targets.map(target => [endpointKey(target.tenant_id, target.id), target]));
      const deliveries = Map.groupBy<string, DueDelivery>(rows, row => endpointKey(row.tenant_id, row.endpoint_id));
      const wanting = new Set(wanted.map(one => endpointKey(one.tenantId, one.endpointId)));
      for (const [queue] of queues) {
        try {
          queue.setTarget(byKey.get(queue.key), beganAt, target => openTarget(secrets, target));
        } catch (error) {
          queue.fail(new Error('The secrets of the endpoint cannot be opened.', { cause: error }));
        }
        const found = deliveries.get(queue.key) ?? [];
        if (wanting.has(queue.key)) queue.add(found, found.length >= limit);
      }
    } catch (error) {
      for (const [queue] of queues) queue.fail(new Error('Deliveries could not be read.', { cause: error }));
    }
    for (const [, { resolve }] of queues) resolve();
  }
}
