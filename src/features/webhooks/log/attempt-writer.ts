import { isDataRefused } from '../../../database/is-data-refused.ts';
import { append } from '../../../events/append.ts';
import { BatchedWriter, type Pending } from '../../../lanes/batched-writer.ts';
import type { Resources } from '../../../schema/context.ts';
import type { Attempted } from '../delivery/attempt.ts';
import { endpointKey, endpointTopic } from '../delivery/lane.ts';
import { endDeliveries, type Recorded, recordAttempts, withIndexScans } from '../delivery/queue.sql.ts';
import { eventWebhook } from '../endpoints/endpoint.ts';
import { changeHealth, type HealthChange } from '../endpoints/targets.sql.ts';

/** Attempts are written in batches after this time; sooner if there are many or a caller waits. */
const FLUSH_MS = 100;
const HURRY = { flushMs: 5, items: 250 };
/** Attempts of one transaction. */
const BATCH = 500;
/** Attempts to write a batch. After the last one it is dropped, and its deliveries are repeated. */
const MAX_WRITES = 6;
/** Maximum number of unwritten attempts: if the process dies, these deliveries are repeated. */
const MAX_WAITING = 1_000;

/** An attempt, with the change of its endpoint's health that it causes, if any. */
interface AttemptWithHealth {
  readonly attempted: TenantAttempt;
  readonly health: HealthChange | undefined;
}

type Entry = Pending<AttemptWithHealth, void>;

/** Writes delivery attempts, several times a second, while further attempts are made. */
export class AttemptWriter {
  readonly #resources: Resources;
  readonly #writer = new BatchedWriter<AttemptWithHealth, void>(entries => this.#write(entries), {
    flushMs: FLUSH_MS,
    backoffFactor: 3,
    maxSize: BATCH,
    maxRunning: 1,
    hurry: HURRY,
  });

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** Resolves when the attempt is written or dropped; never rejects. */
  add(attempted: TenantAttempt, health: HealthChange | undefined): Promise<void> {
    return this.#writer.add({ attempted, health });
  }

  /** Requests that pending attempts be written soon. */
  hurry(): void {
    this.#writer.hurry();
  }

  /** Waits while there are too many unwritten attempts. */
  waitForRoom(): Promise<void> {
    return this.#writer.waitForRoom(MAX_WAITING);
  }

  /** Writes all attempts. */
  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** @returns the attempts to be written again */
  async #write(entries: readonly Entry[]): Promise<readonly Entry[]> {
    try {
      await record(
        this.#resources,
        entries.map(({ item }) => item.attempted),
        lastOfEach(entries),
      ).catch(error => this.#endRefused(entries, error));
    } catch (error) {
      if (isDataRefused(error) && entries.length > 1) return this.#writeEach(entries);
      const givenUp = this.#writer.failures + 1 >= MAX_WRITES;
      this.#resources.log.error({ err: error, attempts: entries.length, givenUp }, 'attempts could not be written');
      if (!givenUp) return entries;
    }
    for (const { written } of entries) written();
    return [];
  }

  /** Writes attempts one by one, so that one that the database refuses does not fail the others. */
  async #writeEach(entries: readonly Entry[]): Promise<readonly Entry[]> {
    for (const [index, entry] of entries.entries()) {
      const unwritten = await this.#write([entry]);
      if (unwritten.length > 0) return entries.slice(index);
    }
    return [];
  }

  /** Ends the delivery of a single attempt that the database refuses: it would be repeated without end. @throws the error of others */
  async #endRefused([entry, ...others]: readonly Entry[], error: unknown): Promise<void> {
    if (!entry || others.length > 0 || !isDataRefused(error)) throw error;
    const { db, log } = this.#resources;
    const { tenantId, delivery, attempt } = entry.item.attempted;
    log.error(
      { err: error, tenantId, endpointId: delivery.endpoint_id, deliveryId: delivery.id, response: attempt.status },
      'the database refuses to store an attempt; its delivery fails',
    );
    const result = attempt.status === null ? 'no response' : `HTTP ${attempt.status}`;
    await endDeliveries(db.write, tenantId, [delivery.id], `the result of an attempt (${result}) could not be stored`);
  }
}

/** The last health change of each endpoint, or the one that disables it. */
function lastOfEach(entries: readonly Entry[]): HealthChange[] {
  const changes = new Map<string, HealthChange>();
  for (const { health } of entries.map(({ item }) => item)) {
    if (!health) continue;
    const key = endpointKey(health.tenantId, health.endpointId);
    if (!changes.get(key)?.disable) changes.set(key, health);
  }
  return [...changes.values()];
}

export interface TenantAttempt extends Attempted {
  readonly tenantId: number;
}

const recordOf = ({ tenantId, delivery, attempt, attemptsSinceQueued, verdict }: TenantAttempt): Recorded => ({
  tenant_id: tenantId,
  delivery,
  attempt,
  attempts_since_queued: attemptsSinceQueued,
  retry_ms: verdict.retryMs,
});

/**
 * Records attempts with an event for each, and updates the health of their endpoints, with an event for each that is disabled.
 */
export async function record(
  resources: Pick<Resources, 'db' | 'signals' | 'log'>,
  attempted: readonly TenantAttempt[],
  health: readonly HealthChange[],
): Promise<void> {
  const { db, signals, log } = resources;
  const recorded = attempted.map(recordOf);
  const disabled = await withIndexScans(db, async trx => {
    await recordAttempts(trx, recorded);
    const ended = health.length > 0 ? await changeHealth(trx, health) : [];
    for (const { tenant_id: tenantId, ...webhook } of ended)
      await append(trx, tenantId, [
        {
          type: 'webhook.disabled',
          payload: { webhook: eventWebhook(webhook), reason: webhook.disabled_reason === 'gone' ? 'gone' : 'failing' },
        },
      ]);
    return ended;
  });
  for (const { tenant_id: tenantId, id, disabled_reason: reason } of disabled) {
    log.warn({ tenantId, endpointId: id, reason }, 'a webhook endpoint was disabled');
    signals.send(endpointTopic(tenantId, id));
  }
  signals.send('events');
}
