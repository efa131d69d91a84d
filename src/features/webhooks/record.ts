import type { Resources } from '../../context.ts';
import { append } from '../../events.ts';
import type { Attempted } from './attempt.ts';
import { changeHealth, type HealthChange } from './endpoints-store.ts';
import { endpointTopic } from './lane.ts';
import { byIndex, type Recorded, recordAttempts } from './queue-store.ts';

export interface TenantAttempt extends Attempted {
  readonly tenantId: number;
}

const recordOf = ({ tenantId, delivery, attempt, tries }: TenantAttempt): Recorded => ({
  tenant_id: tenantId,
  delivery,
  attempt,
  tries,
});

/**
 * Writes down attempts, with an event for each, and what they say about the health of their endpoints. One that is disabled
 * by it tells so in an event.
 */
export async function record(
  resources: Pick<Resources, 'db' | 'clock' | 'signals' | 'log'>,
  attempted: readonly TenantAttempt[],
  health: readonly HealthChange[],
): Promise<void> {
  const { db, clock, signals, log } = resources;
  const recorded = attempted.map(recordOf);
  const disabled = await byIndex(db, async trx => {
    await recordAttempts(trx, recorded);
    const ended = health.length > 0 ? await changeHealth(trx, health, new Date(clock.now()).toISOString()) : [];
    for (const { tenant_id: tenantId, ...webhook } of ended)
      await append(trx, tenantId, [
        {
          type: 'webhook.disabled',
          payload: { webhook, reason: webhook.disabled_reason === 'gone' ? 'gone' : 'failing' },
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
