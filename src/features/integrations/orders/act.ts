import type { Author } from '../../../core/author.ts';
import { CodedError } from '../../../core/errors.ts';
import { encodeGlobalId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { HOUR } from '../../../platform/clock.ts';
import { sha256 } from '../../../platform/crypto.ts';
import type { Context } from '../../../schema/context.ts';
import { type SendAs, sendTemplate } from '../../templates/sending/send-template.ts';
import type { PublicOrder } from '../events.ts';
import { joinGroups, recogniseCustomer } from '../intake/customer.ts';
import type { IntegrationRow } from '../integration.ts';
import { type MappingRow, pathsOf } from '../mappings/mapping.ts';
import { type ActKey, type ActRow, claimAct, finishAct, messageUnder, releaseAct } from './acts.sql.ts';
import type { DeliveryRow, Result } from './delivery.ts';
import { fillTemplate, readCustomer, sourcesOf } from './order.ts';
import { CODES, Refusal, reasonOf } from './reason.ts';

const AS_INTEGRATION: SendAs = { operation: 'integration', feature: 'templates' };

/** Idempotency keys are kept for 24 hours; the outcome of acts begun earlier is unknown. */
const TELLABLE_MS = 23 * HOUR;

export interface Task {
  readonly integration: IntegrationRow;
  readonly mapping: MappingRow;
  readonly order: PublicOrder;
  readonly delivery: Pick<DeliveryRow, 'id' | 'replays' | 'is_forced'>;
  readonly payload: unknown;
}

/**
 * Applies a mapping to an order: contact, groups, template. Once per mapping, order and status, also after crashes and with
 * concurrent processes:
 *
 * 1. The act is claimed in the database. A completed act is not repeated.
 * 2. The template is sent under an idempotency key derived from the same parts. A process that finds an act claimed but not
 *    completed looks up the message by that key, and sends only if there is none.
 * 3. The act is recorded as completed, with contact and message; or released if it was refused, so that a later payload of the
 *    order, with the phone number corrected, may retry it.
 *
 * A forced replay is a separate act.
 *
 * @returns the result; a refusal is also a result
 * @throws a transient fault
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
  const { db } = context;
  const key = { integrationId: integration.id, mappingId: mapping.id, orderId: order.id, status: order.status ?? '' };
  const before = delivery.is_forced ? undefined : await claimAct(db.write, tenantId, key, delivery.id);
  if (before?.state === 'done') return result(before.delivery_id === delivery.id ? 'acted' : 'duplicate', before);
  const messageKey = messageKeyOf(key, delivery);
  const found: Found = { contactId: null };
  try {
    const sent = before && !before.isNew ? await sentUnder(context, messageKey, before) : undefined;
    const { contactId, messageId } = await perform(context, task, messageKey, sent, found);
    await finishAct(db.write, tenantId, key, delivery.id, { contactId, messageId });
    return result('acted', { contact_id: contactId, message_id: messageId });
  } catch (error) {
    const reason = reasonOf(error);
    if (!reason) throw error;
    const isUnknown = reason.code === CODES.outcomeUnknown;
    if (!delivery.is_forced && !isUnknown) await releaseAct(db.write, tenantId, key, delivery.id);
    return { ...result('refused', { contact_id: found.contactId }), reason };
  }
}

/** Known even if the act was refused. */
interface Found {
  contactId: number | null;
}

/** Derived from the parts of the act, so that every process gets the same key. */
function messageKeyOf(key: ActKey, { id, replays, is_forced }: Task['delivery']): string {
  const order = sha256(JSON.stringify([key.orderId, key.status])).toString('base64url');
  const forced = is_forced ? `:${id}:${replays}` : '';
  return `integration:${key.integrationId}:${key.mappingId}:${order}${forced}`;
}

/** Finds the message of an act that was begun before. @throws Refusal if its outcome is no longer known */
async function sentUnder(context: Context, key: string, { age_ms }: ActRow): Promise<string | undefined> {
  const message = await messageUnder(context.db.write, tenantOf(context), key, AS_INTEGRATION.operation);
  if (message === undefined && age_ms > TELLABLE_MS)
    throw new Refusal(
      CODES.outcomeUnknown,
      'Processing of an earlier payload of this order was interrupted, and it is unknown whether its message was sent. A forced replay sends it.',
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
  return {
    contactId,
    messageId: sent ?? (await send(context, integration, mapping.template, payload, contactId, messageKey)),
  };
}

/** @returns the id of the message @throws Refusal that names the path of an invalid value */
async function send(
  context: Context,
  { id, name: integrationName }: IntegrationRow,
  template: NonNullable<MappingRow['template']>,
  payload: unknown,
  contactId: number,
  idempotencyKey: string,
): Promise<string> {
  const filling = fillTemplate(template, payload);
  const [fault] = filling.faults;
  if (fault) throw new Refusal(fault.code, fault.message, fault.field, fault.path);
  const { name, language, channelId } = template;
  const to = encodeGlobalId('Contact', tenantOf(context), contactId);
  try {
    // Also sent to persons without a name.
    const author: Author = { kind: 'integration', id, name: integrationName };
    const input = {
      ...filling.values,
      to,
      name,
      language,
      channelId,
      idempotencyKey,
      removesEmptyFields: true,
      author,
    };
    return (await sendTemplate(context, input, AS_INTEGRATION)).id;
  } catch (error) {
    // A concurrent payload of the same order and status, with different texts, was sent first.
    if (error instanceof CodedError && error.code === 'IDEMPOTENCY_MISMATCH') {
      const message = await messageUnder(context.db.write, tenantOf(context), idempotencyKey, AS_INTEGRATION.operation);
      if (message !== undefined) return message;
    }
    const reason = reasonOf(error, sourcesOf(filling));
    if (!reason) throw error;
    throw new Refusal(reason.code, reason.message, reason.field, reason.path);
  }
}
