import { append } from '../../../events/append.ts';
import type { Resources } from '../../../schema/context.ts';
import type { Attempted } from '../delivery/attempt.ts';
import { endpointTopic } from '../delivery/lane.ts';
import { type Recorded, recordAttempts, withIndexScans } from '../delivery/queue.sql.ts';
import { eventWebhook } from '../endpoints/endpoint.ts';
import { changeHealth, type HealthChange } from '../endpoints/targets.sql.ts';

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
