import type { Context, Resources } from '../../context.ts';
import { append } from '../../events.ts';
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import type { Lane } from '../../platform/jobs.ts';
import { callerOf } from '../caller.ts';
import { actFor } from '../tenants/act.ts';
import { requireFeature } from '../tenants/feature.ts';
import { act } from './act.ts';
import {
  type ClaimedDelivery,
  claimDelivery,
  noteOrder,
  postponeDelivery,
  settleDelivery,
} from './deliveries-store.ts';
import { outcomeOf, type Result } from './delivery.ts';
import { type IntegrationRow, isOrderTopic, type PublicOrder } from './integration.ts';
import { INTEGRATIONS, parseLane } from './lane.ts';
import { DEFAULT_PATHS, type MappingRow, mismatchOf, pathsOf } from './mapping.ts';
import { readOrder } from './order.ts';
import { firstText, textAt } from './path.ts';
import { parsePayload } from './payload.ts';
import { byContact, peopleIn } from './people.ts';
import { notePeople } from './people-store.ts';
import { CODES, type Reason, Refusal, reasonOf } from './reason.ts';
import { getIntegrations } from './store.ts';

/** A living process is done with a payload long before; what a dead one had is taken over after this. */
const CLAIM_MS = 30 * SECOND;
/** Pauses before a fault is tried again; behind the last one it is taken for one that does not pass: after some four hours. */
const PAUSES_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR];
const LINGER_MS = 2 * SECOND;
/** So long a lane may run before others get their turn. */
const TURN_MS = 30 * SECOND;

/** Works through the payloads of one integration in the order in which they came; one that fails waits while the others pass. */
export async function processDeliveries(resources: Resources, lane: Lane): Promise<void> {
  const { db, clock, jobs } = resources;
  const { tenantId, integrationId } = parseLane(lane.key);
  const turnEnds = clock.now() + TURN_MS;
  while (!lane.signal.aborted) {
    const now = clock.now();
    if (now > turnEnds) {
      jobs.wake(INTEGRATIONS, lane.key);
      return;
    }
    const [claim, until] = [newId(), new Date(now + CLAIM_MS).toISOString()];
    const nowIso = new Date(now).toISOString();
    const delivery = await claimDelivery(db.write, tenantId, integrationId, claim, nowIso, until);
    if (delivery) await work(resources, tenantId, delivery, claim);
    else if (!(await lane.linger(LINGER_MS))) return;
  }
}

/** What was made of a payload. */
interface Judged {
  readonly topic: string;
  readonly order: PublicOrder | undefined;
  /** Whether the order is one that the event log tells of. */
  readonly isOrder: boolean;
  readonly integration: IntegrationRow | undefined;
  readonly results: readonly Result[];
  readonly reason: Reason | null;
}

async function work(resources: Resources, tenantId: number, delivery: ClaimedDelivery, claim: string): Promise<void> {
  const { db, clock, log, signals, metrics } = resources;
  const known = { tenantId, integrationId: delivery.integration_id, deliveryId: delivery.id };
  const { topic: told, results: before } = delivery;
  const broken = {
    topic: told,
    order: undefined,
    isOrder: false,
    integration: undefined,
    results: before,
    reason: FAULT,
  };
  // What is begun more often than it may be has ended the process each time.
  const isDeadly = delivery.attempts > PAUSES_MS.length + 1;
  const judged: Judged = isDeadly
    ? broken
    : await judge(resources, tenantId, delivery).catch((error: unknown) => {
        log.error({ err: error, ...known }, 'a payload of a shop could not be worked on');
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
    const dueIso = new Date(clock.now() + pause).toISOString();
    await postponeDelivery(db.write, tenantId, delivery.id, claim, settled, dueIso);
    return;
  }
  const outcome = hasFailed ? 'failed' : reason ? 'refused' : outcomeOf(results);
  const nowIso = new Date(clock.now()).toISOString();
  const isSettled = await db.transaction(async trx => {
    if (!(await settleDelivery(trx, tenantId, delivery.id, claim, outcome, settled, nowIso))) return false;
    const { integration, isOrder } = judged;
    if (!integration || !order || !isOrder) return true;
    if (!(await noteOrder(trx, tenantId, integration.id, order.id, order.status ?? '', nowIso))) return true;
    const { id, name, kind } = integration;
    const contactId = results.find(({ contact_id }) => contact_id !== null)?.contact_id ?? null;
    await append(trx, tenantId, [
      { type: 'order.received', payload: { order, integration: { id, name, kind }, topic, contact_id: contactId } },
    ]);
    return true;
  });
  if (!isSettled) return;
  metrics.integrationOutcomes.inc({ outcome });
  signals.send('events');
  if (outcome === 'failed') log.error(known, 'a payload of a shop was given up');
}

const FAULT: Reason = {
  code: CODES.fault,
  message: 'A fault of ours or of the database; it is tried again a few times.',
  field: null,
  path: null,
};

/** Reads a payload and does what the mappings say. @throws a fault before any mapping was looked at */
async function judge(resources: Resources, tenantId: number, delivery: ClaimedDelivery): Promise<Judged> {
  const context = await actingFor(resources, tenantId, delivery);
  const [integration] = await getIntegrations(resources.db.write, tenantId, [delivery.integration_id]);
  const payload = delivery.body === null ? undefined : parsePayload(delivery.body);
  const nothing = { topic: delivery.topic, order: undefined, isOrder: false, integration, results: [] };
  try {
    if (!context) throw new Refusal(CODES.tenantInactive, 'The tenant is suspended.');
    requireFeature(callerOf(context).tenant, 'integrations');
    if (delivery.body === null)
      throw new Refusal(CODES.payloadErased, 'The payload was erased when its contact was deleted.');
    if (!integration || payload === undefined)
      throw new Refusal(CODES.payloadUnreadable, 'The payload is not JSON, or nested too deep.');
  } catch (error) {
    const reason = reasonOf(error);
    if (!reason) throw error;
    return { ...nothing, reason };
  }
  // Before a contact is made of it: whoever is deleted from now on takes the payload along.
  const people = peopleIn(payload, integration);
  if (people.length > 0) await notePeople(resources.db.write, tenantId, delivery.id, people);
  const topic = topicOf(integration, delivery.topic, payload);
  const meant = mappingsFor(integration, topic, payload);
  const results: Result[] = [];
  for (const mapping of meant)
    results.push(await attempt(resources, tenantId, { integration, mapping, delivery, payload }));
  const paths = meant[0] ? pathsOf(integration.kind, meant[0]) : DEFAULT_PATHS[integration.kind];
  const order = readOrder(payload, paths);
  const isOrder = isOrderTopic(integration.kind, topic, meant.length > 0);
  return { topic, order, isOrder, integration, results, reason: null };
}

const actingFor = (resources: Resources, tenantId: number, { integration_id }: ClaimedDelivery) =>
  actFor(resources, tenantId, `integration ${integration_id}`, ['contacts:write', 'groups:write', 'messages:send']);

/** What happened: as the header said, or as a generic payload says. */
export const topicOf = (integration: IntegrationRow, told: string, payload: unknown): string =>
  integration.kind === 'generic' ? (textAt(payload, integration.topic_path) ?? '').slice(0, 200) : told;

/** The mappings that want a payload. */
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

/** One mapping's part. A fault that may pass is a result as well, so that it does not keep the other mappings from theirs. */
async function attempt(resources: Resources, tenantId: number, { integration, ...of }: Attempt): Promise<Result> {
  const { mapping, delivery, payload } = of;
  const base = { mapping_id: mapping.id, mapping_name: mapping.name, contact_id: null, message_id: null };
  // What an earlier attempt has come to stays: only what failed is done again.
  const earlier = delivery.results.find(({ mapping_id, outcome }) => mapping_id === mapping.id && outcome !== 'failed');
  if (earlier) return earlier;
  const paths = pathsOf(integration.kind, mapping);
  const order = readOrder(payload, paths);
  if (!order) {
    const message = `No order id stands at ${paths.orderId.join(', ')}: without one an order could not be told from its repetition.`;
    const reason = { code: CODES.orderIdMissing, message, field: 'orderId', path: paths.orderId[0] ?? null };
    return { ...base, outcome: 'refused', reason };
  }
  try {
    const context: Context | undefined = await actingFor(resources, tenantId, delivery);
    if (!context) throw new Error('The tenant was suspended a moment ago.');
    return await act(context, { integration, mapping, order, delivery, payload });
  } catch (error) {
    const { log } = resources;
    log.warn(
      { err: error, tenantId, deliveryId: delivery.id, mappingId: mapping.id },
      'an order could not be acted on',
    );
    return { ...base, outcome: 'failed', reason: FAULT };
  }
}
