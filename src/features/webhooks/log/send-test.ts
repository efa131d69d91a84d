import { CodedError, conflict, notFound } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { Context } from '../../../schema/context.ts';
import { keyOf, once } from '../../tenancy/idempotency/once.ts';
import { isRunning, markRunning } from '../../tenancy/idempotency/running.ts';
import { attemptDelivery } from '../delivery/attempt.ts';
import { shardOf } from '../delivery/lane.ts';
import { type EndpointRow, eventWebhook } from '../endpoints/endpoint.ts';
import { getEndpoints } from '../endpoints/store.ts';
import { openTarget } from '../endpoints/target.ts';
import { findTargets } from '../endpoints/targets.sql.ts';
import { record } from './attempt-writer.ts';
import type { DeliveryRow } from './delivery.ts';
import { getAttempts, getDeliveries, insertTestDelivery } from './store.ts';

/**
 * Sends a test event (`webhook.test`) to an endpoint, even a disabled one, and waits for the result. Delivered and logged like any
 * event, but attempted once and without effect on the endpoint's health.
 *
 * @param key idempotency key: a repeated request gets the result of the first
 * @throws NOT_FOUND; IDEMPOTENCY_MISMATCH, and CONFLICT while the first request has no outcome
 */
export async function sendTest(context: Context, id: number, key: string | null | undefined): Promise<DeliveryRow> {
  const tenantId = tenantOf(context);
  const keyed = { operation: 'testWebhookEndpoint', key, input: { id } };
  const storedKey = keyOf(keyed);
  let end: (() => void) | undefined;
  try {
    const prepared = await once<Prepared | DeliveryRow>(context, keyed, {
      async run(trx) {
        if (storedKey !== undefined) end = await markRunning(context, storedKey);
        return prepare(trx, tenantId, id, new Date(context.clock.now()).toISOString());
      },
      // Sent after the transaction, so that no locks are held during an external call.
      store: sample => ('sample' in sample ? { deliveryId: sample.sample.id } : {}),
      rebuild: (stored, age) => outcomeOf(context, storedKey ?? '', age, (stored as { deliveryId: string }).deliveryId),
    });
    return 'sample' in prepared ? await attempt(context, prepared) : prepared;
  } finally {
    end?.();
  }
}

async function attempt(context: Context, { target, sample }: Prepared): Promise<DeliveryRow> {
  const { secrets, signals } = context;
  signals.send('events');
  const attempted = await attemptDelivery(context, { mayCall: () => true }, openTarget(secrets, target), sample);
  if (!attempted) throw new CodedError('SERVICE_UNAVAILABLE', 'The server is stopping. Try again.');
  await record(context, [{ ...attempted, tenantId: tenantOf(context) }], []);
  const [delivery] = await getDeliveries(context.db.write, tenantOf(context), [sample.id]);
  if (!delivery) throw notFound('WebhookDelivery');
  return delivery;
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(trx: Db, tenantId: number, id: number, nowIso: string) {
  const [webhook] = await getEndpoints(trx, tenantId, [id]);
  const [target] = await findTargets(trx, [{ tenantId, endpointId: id }]);
  if (!webhook || !target) throw notFound('WebhookEndpoint');
  const deliveryId = newId();
  const [eventId = ''] = await append(trx, tenantId, [
    { type: 'webhook.test', payload: { webhook: eventWebhook(webhook) } },
  ]);
  await insertTestDelivery(trx, tenantId, { id: deliveryId, endpointId: id, shard: shardOf(id), eventId }, nowIso);
  return { target, sample: sampleOf(webhook, deliveryId, eventId, nowIso) };
}

const sampleOf = (webhook: EndpointRow, id: string, eventId: string, createdAt: string) => ({
  id,
  event_id: eventId,
  event_type: 'webhook.test',
  is_test: true,
  attempts: 0,
  attempts_since_queued: 0,
  created_at: createdAt,
  payload: { webhook: eventWebhook(webhook) },
  occurred_at: createdAt,
  is_sandbox: null,
});

/**
 * Returns the result of the first request with a key. If it died before there was one, its test event is sent again under the same
 * id.
 * @throws CONFLICT while it runs; NOT_FOUND
 */
async function outcomeOf(
  context: Context,
  key: string,
  ageSeconds: number,
  deliveryId: string,
): Promise<DeliveryRow | Prepared> {
  const tenantId = tenantOf(context);
  const { write } = context.db;
  const [delivery] = await getDeliveries(write, tenantId, [deliveryId]);
  if (!delivery) throw notFound('WebhookDelivery');
  const [made] = await getAttempts(write, tenantId, [deliveryId]);
  if (made) return delivery;
  const { endpoint_id: endpointId, event_id: eventId, created_at: createdAt } = delivery;
  context.replay.replayed = false;
  if (await isRunning(context, key, ageSeconds))
    throw conflict('The first request with this idempotency key is still running.');
  const [webhook] = await getEndpoints(write, tenantId, [endpointId]);
  const [target] = await findTargets(write, [{ tenantId, endpointId }]);
  if (!webhook || !target) throw notFound('WebhookEndpoint');
  return { target, sample: sampleOf(webhook, deliveryId, eventId, createdAt) };
}
