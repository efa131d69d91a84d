import type { Context } from '../../context.ts';
import { CodedError } from '../../errors.ts';
import { encodeGlobalId } from '../../global-ids.ts';
import { HOUR } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto.ts';
import { tenantOf } from '../caller.ts';
import { type SendAs, sendTemplate } from '../templates/send-template.ts';
import { type ActKey, type ActRow, claimAct, finishAct, messageUnder, releaseAct } from './acts-store.ts';
import { joinGroups, recogniseCustomer } from './customer.ts';
import type { DeliveryRow, Result } from './delivery.ts';
import type { IntegrationRow, PublicOrder } from './integration.ts';
import { type MappingRow, pathsOf } from './mapping.ts';
import { fillTemplate, readCustomer, sourcesOf } from './order.ts';
import { CODES, Refusal, reasonOf } from './reason.ts';

const AS_INTEGRATION: SendAs = { operation: 'integration', feature: 'templates' };

/** Idempotency keys are kept for 24 hours: what was begun before that, nobody can tell any more. */
const TELLABLE_MS = 23 * HOUR;

export interface Task {
  readonly integration: IntegrationRow;
  readonly mapping: MappingRow;
  readonly order: PublicOrder;
  readonly delivery: Pick<DeliveryRow, 'id' | 'replays' | 'is_forced'>;
  readonly payload: unknown;
}

/**
 * Does for an order what a mapping says: the contact, its groups, the template. Once for each mapping, order and status,
 * whatever dies in between and however many do it at the same time:
 *
 * 1. The act is claimed in the database. One that is done is not done again.
 * 2. The template is sent under an idempotency key that is made of the same parts. Who finds an act claimed and not done asks
 *    that key for the message, and sends under it only where there is none.
 * 3. The act is written down as done, with contact and message; or given back when it was refused, so that a later payload of
 *    the order, with the phone number corrected, may do it.
 *
 * A forced replay is an act of its own.
 *
 * @returns what came of it; a refusal is a result as well
 * @throws a fault that may pass
 */
export async function act(context: Context, task: Task): Promise<Result> {
  const { mapping, order, delivery, integration } = task;
  const result = (outcome: Result['outcome'], of: Partial<Pick<ActRow, 'contact_id' | 'message_id'>> = {}): Result => ({
    mapping_id: mapping.id,
    mapping_name: mapping.name,
    outcome,
    reason: null,
    contact_id: of.contact_id ?? null,
    message_id: of.message_id ?? null,
  });
  const tenantId = tenantOf(context);
  const { db, clock } = context;
  const key = { integrationId: integration.id, mappingId: mapping.id, orderId: order.id, status: order.status ?? '' };
  const nowIso = new Date(clock.now()).toISOString();
  const before = delivery.is_forced ? undefined : await claimAct(db.write, tenantId, key, delivery.id, nowIso);
  if (before?.state === 'done') return result(before.delivery_id === delivery.id ? 'acted' : 'duplicate', before);
  const messageKey = messageKeyOf(key, delivery);
  const found: Found = { contactId: null };
  try {
    const sent = before && !before.isNew ? await sentUnder(context, messageKey, before) : undefined;
    const { contactId, messageId } = await perform(context, task, messageKey, sent, found);
    await finishAct(db.write, tenantId, key, delivery.id, { contactId, messageId }, nowIso);
    return result('acted', { contact_id: contactId, message_id: messageId });
  } catch (error) {
    const reason = reasonOf(error);
    if (!reason) throw error;
    const isUnknown = reason.code === CODES.outcomeUnknown;
    if (!delivery.is_forced && !isUnknown) await releaseAct(db.write, tenantId, key, delivery.id);
    return { ...result('refused', { contact_id: found.contactId }), reason };
  }
}

/** What is known also where the end was a refusal. */
interface Found {
  contactId: number | null;
}

/** Made of what makes the act: the same for whoever does it. */
function messageKeyOf(key: ActKey, { id, replays, is_forced }: Task['delivery']): string {
  const order = sha256(JSON.stringify([key.orderId, key.status])).toString('base64url');
  const forced = is_forced ? `:${id}:${replays}` : '';
  return `integration:${key.integrationId}:${key.mappingId}:${order}${forced}`;
}

/** The message of an act that was begun before. @throws Refusal where that cannot be told any more */
async function sentUnder(context: Context, key: string, { claimed_at }: ActRow): Promise<string | undefined> {
  const message = await messageUnder(context.db.write, tenantOf(context), key, AS_INTEGRATION.operation);
  if (message === undefined && context.clock.now() - Date.parse(claimed_at) > TELLABLE_MS)
    throw new Refusal(
      CODES.outcomeUnknown,
      'An earlier payload of this order was being worked on when it broke off, and whether its message went out cannot be told any more. A forced replay sends it.',
    );
  return message;
}

async function perform(
  context: Context,
  { integration, mapping, payload }: Task,
  messageKey: string,
  sent: string | undefined,
  found: Found,
): Promise<{ contactId: number; messageId: string | null }> {
  const customer = readCustomer(payload, pathsOf(integration.kind, mapping), integration.default_country);
  const contactId = await recogniseCustomer(context, customer);
  found.contactId = contactId;
  await joinGroups(
    context,
    contactId,
    mapping.groups.map(({ id }) => id),
  );
  if (!mapping.template) return { contactId, messageId: null };
  return { contactId, messageId: sent ?? (await send(context, mapping.template, payload, contactId, messageKey)) };
}

/** @returns the id of the message @throws Refusal that names the path where a value was the reason */
async function send(
  context: Context,
  template: NonNullable<MappingRow['template']>,
  payload: unknown,
  contactId: number,
  idempotencyKey: string,
): Promise<string> {
  const filling = fillTemplate(template, payload);
  const [fault] = filling.faults;
  if (fault) throw new Refusal(fault.code, fault.message, fault.field, fault.path);
  const { name, language, channelId } = template;
  const to = encodeGlobalId('Contact', contactId);
  try {
    const input = { ...filling.values, to, name, language, channelId, idempotencyKey };
    return (await sendTemplate(context, input, AS_INTEGRATION)).id;
  } catch (error) {
    // Another payload of the same order and status, with other words, was faster.
    if (error instanceof CodedError && error.code === 'IDEMPOTENCY_MISMATCH') {
      const message = await messageUnder(context.db.write, tenantOf(context), idempotencyKey, AS_INTEGRATION.operation);
      if (message !== undefined) return message;
    }
    const reason = reasonOf(error, sourcesOf(filling));
    if (!reason) throw error;
    throw new Refusal(reason.code, reason.message, reason.field, reason.path);
  }
}
