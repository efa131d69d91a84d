import type { Context } from '../../context.ts';
import { CodedError, notFound } from '../../errors.ts';
import { append } from '../../events.ts';
import { newId } from '../../platform/ids.ts';
import { callerOf } from '../caller.ts';
import { attemptDelivery } from './attempt.ts';
import { insertTestDelivery } from './deliveries-store.ts';
import type { DeliveryRow, PublicAttempt } from './delivery.ts';
import { findTargets, getEndpoints } from './endpoints-store.ts';
import { shardOf } from './lane.ts';
import { record } from './record.ts';
import { openTarget } from './target.ts';

export interface TestedEndpoint {
  readonly delivery: DeliveryRow;
  readonly attempt: PublicAttempt;
}

/**
 * Sends a sample (`webhook.test`) to an endpoint now, also to a disabled one, and waits for what comes of it: by the same way
 * as any event, logged as any attempt, but tried once, and no sign of the endpoint's health.
 *
 * @throws NOT_FOUND
 */
export async function sendTest(context: Context, id: number): Promise<TestedEndpoint> {
  const { tenant } = callerOf(context);
  const { db, clock, secrets, signals } = context;
  const [[webhook], [target]] = await Promise.all([
    getEndpoints(db.write, tenant.id, [id]),
    findTargets(db.write, [{ tenantId: tenant.id, endpointId: id }]),
  ]);
  if (!webhook || !target) throw notFound('WebhookEndpoint');
  const nowIso = new Date(clock.now()).toISOString();
  const deliveryId = newId();
  const eventId = await db.transaction(async trx => {
    const [event = ''] = await append(trx, tenant.id, [{ type: 'webhook.test', payload: { webhook } }]);
    const delivery = { id: deliveryId, endpointId: id, shard: shardOf(id), eventId: event };
    await insertTestDelivery(trx, tenant.id, delivery, nowIso);
    return event;
  });
  signals.send('events');
  const attempted = await attemptDelivery(context, openTarget(secrets, target, clock.now()), {
    id: deliveryId,
    event_id: eventId,
    event_type: 'webhook.test',
    is_test: true,
    attempts: 0,
    tries: 0,
    created_at: nowIso,
    payload: { webhook },
    occurred_at: nowIso,
    is_sandbox: null,
  });
  if (!attempted) throw new CodedError('SERVICE_UNAVAILABLE', 'The server is stopping. Try again.');
  await record(context, [{ ...attempted, tenantId: tenant.id }], []);
  return { delivery: attempted.delivery, attempt: attempted.attempt };
}
