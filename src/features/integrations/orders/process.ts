import { newId } from '../../../core/ids.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf } from '../../../core/principal.ts';
import { append } from '../../../events/append.ts';
import type { Lane, TurnEnd } from '../../../lanes/lane.ts';
import { HOUR, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Context, Resources } from '../../../schema/context.ts';
import { actFor } from '../../tenancy/tenants/act.ts';
import type { PublicOrder } from '../events.ts';
import { firstText, textAt } from '../intake/path.ts';
import { parsePayload } from '../intake/payload.ts';
import { notePeople } from '../intake/people.sql.ts';
import { byContact, peopleIn } from '../intake/people.ts';
import { type IntegrationRow, isOrderTopic } from '../integration.ts';
import { getIntegrations } from '../integrations.sql.ts';
import { type MappingRow, mismatchOf, pathsOf } from '../mappings/mapping.ts';
import { DEFAULT_PATHS } from '../mappings/paths.ts';
import { act } from './act.ts';
import { type ClaimedDelivery, claimDelivery, noteOrder, postponeDelivery, settleDelivery } from './deliveries.sql.ts';
import { outcomeOf, parseLane, type Result } from './delivery.ts';
import { readOrder } from './order.ts';
import { CODES, type Reason, Refusal, reasonOf } from './reason.ts';

/** Claim duration. A live process finishes a payload well within it; a dead process's payloads are claimed again after it. */
const CLAIM_MS = 30 * SECOND;
/** Back-off between attempts; after the last one, some four hours later, a fault counts as permanent. */
const PAUSES_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
const LINGER_MS = 2 * SECOND;

/** Processes the payloads of one integration in order of arrival; a failed one waits for its retry while the others proceed. */
export async function processDeliveries(resources: Resources, lane: Lane): Promise<TurnEnd> {
  const { db } = resources;
  const { tenantId, integrationId } = parseLane(lane.key);
  while (await lane.ready()) {
    if (lane.isTurnOver()) return 'more';
    const claim = newId();
    const delivery = await claimDelivery(db.write, tenantId, integrationId, claim, CLAIM_MS);
    if (delivery) await work(resources, lane, delivery, claim);
    else if (!(await lane.linger(LINGER_MS))) return undefined;
  }
  return undefined;
}

/** The result of processing a payload. */
interface ProcessedPayload {
  readonly topic: string;
  readonly order: PublicOrder | undefined;
  /** Whether the order is reported in the event log. */
  readonly isOrder: boolean;
  readonly integration: IntegrationRow | undefined;
  readonly results: readonly Result[];
  readonly reason: Reason | null;
}

async function work(resources: Resources, lane: Lane, delivery: ClaimedDelivery, claim: string): Promise<void> {
  const { tenantId } = lane;
  const { db, clock, log, signals, metrics } = resources;
  const known = { tenantId, integrationId: delivery.integration_id, deliveryId: delivery.id };
  const { topic: receivedTopic, results: before } = delivery;
  const broken = {
    topic: receivedTopic,
    order: undefined,
    isOrder: false,
    integration: undefined,
    results: before,
    reason: FAULT,
  };
  // A payload with more attempts than allowed has crashed the process each time.
  const hasCrashed = delivery.attempts > PAUSES_MS.length + 1;
  const judged: ProcessedPayload = hasCrashed
    ? broken
    : await judge(resources, tenantId, delivery).catch((error: unknown) => {
        log.error({ err: error, ...known }, 'a payload of a shop could not be processed');
        return broken;
      });
  const { topic, order, results, reason } = judged;
  const settled = {
    topic,
    orderId: order?.id ?? null,
    orderStatus: order?.status ?? null,
    results,
    reason,
    people: results.flatMap(({ contact_id: id }) => (id === null ? [] : [byContact(id)])),
  };
  const hasFailed = reason?.code === CODES.fault || outcomeOf(results) === 'failed';
  const pause = PAUSES_MS[delivery.attempts - 1];
  if (hasFailed && pause !== undefined) {
    await postponeDelivery(db.write, tenantId, delivery.id, claim, settled, pause);
    return;
  }
  const outcome = hasFailed ? 'failed' : reason ? 'refused' : outcomeOf(results);
  const nowIso = new Date(clock.now()).toISOString();
  const isSettled = await db.transaction(async trx => {
    if (!(await settleDelivery(trx, tenantId, delivery.id, claim, outcome, settled, nowIso))) return false;
    const { integration, isOrder } = judged;
    if (!integration || !order || !isOrder) return lane.fence(trx).then(() => true);
    if (!(await noteOrder(trx, tenantId, integration.id, order.id, order.status ?? '', nowIso)))
      return lane.fence(trx).then(() => true);
    const { id, name, kind } = integration;
    const contactId = results.find(({ contact_id }) => contact_id !== null)?.contact_id ?? null;
    await append(trx, tenantId, [
      { type: 'order.received', payload: { order, integration: { id, name, kind }, topic, contact_id: contactId } },
    ]);
    await lane.fence(trx);
    return true;
  });
  if (!isSettled) return;
  metrics.integrationDeliveries.inc({ outcome });
  signals.send('events');
  if (outcome === 'failed') log.error(known, 'processing of a payload of a shop has failed permanently');
}

const FAULT: Reason = {
  code: CODES.fault,
  message: 'An internal or database error. Processing is retried.',
  field: null,
  path: null,
};

/** Reads a payload and applies the mappings. @throws errors from before any mapping was applied */
async function judge(resources: Resources, tenantId: number, delivery: ClaimedDelivery): Promise<ProcessedPayload> {
  const context = await actingFor(resources, tenantId, delivery);
  const [integration] = await getIntegrations(resources.db.write, tenantId, [delivery.integration_id]);
  const payload = delivery.body === null ? undefined : parsePayload(delivery.body);
  const nothing = { topic: delivery.topic, order: undefined, isOrder: false, integration, results: [] };
  try {
    if (!context) throw new Refusal(CODES.tenantInactive, 'The tenant is suspended.');
    requireFeature(callerOf(context).tenant, 'integrations');
    if (delivery.body === null)
      throw new Refusal(CODES.payloadErased, 'The payload was erased because its contact was deleted.');
    if (!integration || payload === undefined)
      throw new Refusal(CODES.payloadUnreadable, 'The payload is not JSON or is nested too deeply.');
  } catch (error) {
    const reason = reasonOf(error);
    if (!reason) throw error;
    return { ...nothing, reason };
  }
  // Before a contact is created from it, so that the erasure of a person includes the payload.
  const people = peopleIn(payload, integration);
  if (people.length > 0) await notePeople(resources.db.write, tenantId, delivery.id, people);
  const topic = topicOf(integration, delivery.topic, payload);
  const applicable = mappingsFor(integration, topic, payload);
  const results: Result[] = [];
  for (const mapping of applicable)
    results.push(await attempt(resources, tenantId, { integration, mapping, delivery, payload }));
  const paths = applicable[0] ? pathsOf(integration.kind, applicable[0]) : DEFAULT_PATHS[integration.kind];
  const order = readOrder(payload, paths);
  const isOrder = isOrderTopic(integration.kind, topic, applicable.length > 0);
  return { topic, order, isOrder, integration, results, reason: null };
}

const actingFor = (resources: Resources, tenantId: number, { integration_id }: ClaimedDelivery) =>
  actFor(resources, tenantId, `integration ${integration_id}`, ['contacts:write', 'groups:write', 'messages:send']);

/** The event, from the header or from a generic payload. */
export const topicOf = (integration: IntegrationRow, received: string, payload: unknown): string =>
  integration.kind === 'generic'
    ? (textAt(payload, integration.topic_path) ?? '').slice(0, 200).toWellFormed()
    : received;

/** The mappings that apply to a payload. */
const mappingsFor = (integration: IntegrationRow, topic: string, payload: unknown): MappingRow[] =>
  integration.mappings.filter(mapping => {
    const status = firstText(payload, pathsOf(integration.kind, mapping).status);
    return mismatchOf(mapping, topic, status) === undefined;
  });

interface Attempt {
  readonly integration: IntegrationRow;
  readonly mapping: MappingRow;
  readonly delivery: ClaimedDelivery;
  readonly payload: unknown;
}

/** Applies one mapping. A transient fault is also a result, so that it does not block the other mappings. */
async function attempt(resources: Resources, tenantId: number, { integration, ...of }: Attempt): Promise<Result> {
  const { mapping, delivery, payload } = of;
  const base = { mapping_id: mapping.id, mapping_name: mapping.name, contact_id: null, message_id: null };
  // Results of earlier attempts stand: only what failed is retried.
  const earlier = delivery.results.find(({ mapping_id, outcome }) => mapping_id === mapping.id && outcome !== 'failed');
  if (earlier) return earlier;
  const paths = pathsOf(integration.kind, mapping);
  const order = readOrder(payload, paths);
  if (!order) {
    const message = `There is no order id at ${paths.orderId.join(', ')}; without it, repetitions of an order cannot be recognised.`;
    const reason = { code: CODES.orderIdMissing, message, field: 'orderId', path: paths.orderId[0] ?? null };
    return { ...base, outcome: 'refused', reason };
  }
  try {
    const context: Context | undefined = await actingFor(resources, tenantId, delivery);
    if (!context) throw new Error('The tenant was suspended during processing.');
    return await act(context, { integration, mapping, order, delivery, payload });
  } catch (error) {
    const { log } = resources;
    log.warn(
      { err: error, tenantId, deliveryId: delivery.id, mappingId: mapping.id },
      'a mapping could not be applied to an order',
    );
    return { ...base, outcome: 'failed', reason: FAULT };
  }
}
