import type { Context } from '../../context.ts';
import { CodedError, conflict, notFound } from '../../errors.ts';
import { append } from '../../events.ts';
import type { Db } from '../../platform/database.ts';
import { newId } from '../../platform/ids.ts';
import { tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { attemptDelivery } from './attempt.ts';
import { getAttempts, getDeliveries, insertTestDelivery } from './deliveries-store.ts';
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
 * @param key makes a repeated request the same one: it is told what came of the first
 * @throws NOT_FOUND; IDEMPOTENCY_MISMATCH, and CONFLICT while the first request has no outcome
 */
export async function sendTest(context: Context, id: number, key: string | null | undefined): Promise<TestedEndpoint> {
  const tenantId = tenantOf(context);
  const { clock, secrets, signals } = context;
  const nowMs = clock.now();
  const prepared = await once<Prepared | TestedEndpoint>(
    context,
    { operation: 'testWebhookEndpoint', key, input: { id } },
    {
      run: trx => prepare(trx, tenantId, id, new Date(nowMs).toISOString()),
      // Sent after the transaction: nothing may wait for a stranger's server while it holds locks.
      store: sample => ('sample' in sample ? { deliveryId: sample.sample.id } : {}),
      again: stored => outcomeOf(context, (stored as { deliveryId: string }).deliveryId),
    },
  );
  if (!('sample' in prepared)) return prepared;
  signals.send('events');
  const attempted = await attemptDelivery(context, openTarget(secrets, prepared.target, nowMs), prepared.sample);
  if (!attempted) throw new CodedError('SERVICE_UNAVAILABLE', 'The server is stopping. Try again.');
  await record(context, [{ ...attempted, tenantId }], []);
  return { delivery: attempted.delivery, attempt: attempted.attempt };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(trx: Db, tenantId: number, id: number, nowIso: string) {
  const [webhook] = await getEndpoints(trx, tenantId, [id]);
  const [target] = await findTargets(trx, [{ tenantId, endpointId: id }]);
  if (!webhook || !target) throw notFound('WebhookEndpoint');
  const deliveryId = newId();
  const [eventId = ''] = await append(trx, tenantId, [{ type: 'webhook.test', payload: { webhook } }]);
  await insertTestDelivery(trx, tenantId, { id: deliveryId, endpointId: id, shard: shardOf(id), eventId }, nowIso);
  const sample = {
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
  };
  return { target, sample };
}

async function outcomeOf(context: Context, deliveryId: string): Promise<TestedEndpoint> {
  const tenantId = tenantOf(context);
  const { write } = context.db;
  const [delivery] = await getDeliveries(write, tenantId, [deliveryId]);
  if (!delivery) throw notFound('WebhookDelivery');
  const [attempt] = await getAttempts(write, tenantId, [deliveryId]);
  if (!attempt) throw conflict('The first request with this idempotency key has no outcome yet.');
  return { delivery, attempt };
}
