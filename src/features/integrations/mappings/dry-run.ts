import { invalid } from '../../../core/errors.ts';
import { encodeGlobalId } from '../../../core/global-ids.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import type { Rendered } from '../../templates/sending/render.ts';
import { previewTemplate } from '../../templates/sending/send-template.ts';
import type { PublicOrder } from '../events.ts';
import { requireDelivery, requireIntegration } from '../find.ts';
import { contactFieldsOf } from '../intake/customer.ts';
import { firstText } from '../intake/path.ts';
import { parsePayload } from '../intake/payload.ts';
import type { IntegrationRow } from '../integration.ts';
import { type ActRow, contactByPhone, doneActs } from '../orders/acts.sql.ts';
import {
  type CustomerTexts,
  fillTemplate,
  type Parameter,
  readCustomer,
  readOrder,
  readTexts,
  sourcesOf,
} from '../orders/order.ts';
import { topicOf } from '../orders/process.ts';
import { readBody } from '../orders/read-body.ts';
import { CODES, type Reason, Refusal, reasonOf } from '../orders/reason.ts';
import { type MappingRow, type Mismatch, mismatchOf, pathsOf } from './mapping.ts';
import { DEFAULT_PATHS } from './paths.ts';

export interface DryRunInput {
  readonly integrationId: number;
  readonly deliveryId?: string | null | undefined;
  readonly payload?: unknown;
  readonly topic?: string | null | undefined;
}

export interface DryRun {
  readonly topic: string;
  /** Read with the paths of the first mapping that applies, or those of the kind. */
  readonly order: PublicOrder | null;
  readonly mappings: readonly MappingDryRun[];
}

export const DRY_OUTCOMES = ['acts', 'done', 'refuses', 'not_meant'] as const;

export interface MappingDryRun {
  readonly mapping: MappingRow;
  readonly outcome: (typeof DRY_OUTCOMES)[number];
  readonly mismatch: Mismatch | null;
  readonly reasons: readonly Reason[];
  readonly person: CustomerTexts;
  /** In E.164. */
  readonly phone: string | null;
  readonly contact_id: number | null;
  readonly parameters: readonly Parameter[];
  readonly text: string | null;
  readonly rendered: Rendered | null;
}

/**
 * Shows what every mapping would do with a payload: recipient, filled template, or the reason why not. Writes, sends and counts
 * nothing, so plan limits are not checked.
 *
 * @throws NOT_FOUND, VALIDATION_ERROR on payload
 */
export async function dryRun(context: Context, input: DryRunInput): Promise<DryRun> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const { read } = context.db;
  const integration = await requireIntegration(read, tenantId, input.integrationId);
  if ((input.deliveryId == null) === (input.payload == null))
    throw invalid(
      { payload: ['Give either a payload or a deliveryId.'] },
      input.payload == null ? 'REQUIRED' : 'SURPLUS',
    );
  const delivery = input.deliveryId == null ? undefined : await requireDelivery(read, tenantId, input.deliveryId);
  const body = delivery && (await readBody(context, delivery.id));
  if (body === null) throw invalid({ deliveryId: ['The payload was erased because its contact was deleted.'] });
  // Parsed like a received payload, so that the result is the same.
  const payload = parsePayload(body ?? Buffer.from(JSON.stringify(input.payload)));
  if (payload === undefined) throw invalid({ payload: ['Must be a JSON object or list, not nested too deep.'] });
  const topic = topicOf(integration, input.topic ?? delivery?.topic ?? '', payload);
  const mappings: MappingDryRun[] = [];
  for (const mapping of integration.mappings)
    mappings.push(await tryMapping(context, integration, mapping, topic, payload));
  const meant = mappings.find(({ outcome }) => outcome !== 'not_meant')?.mapping;
  const paths = meant ? pathsOf(integration.kind, meant) : DEFAULT_PATHS[integration.kind];
  return { topic, order: readOrder(payload, paths) ?? null, mappings };
}

async function tryMapping(
  context: Context,
  integration: IntegrationRow,
  mapping: MappingRow,
  topic: string,
  payload: unknown,
): Promise<MappingDryRun> {
  const paths = pathsOf(integration.kind, mapping);
  const mismatch = mismatchOf(mapping, topic, firstText(payload, paths.status)) ?? null;
  const order = readOrder(payload, paths);
  const done = order && (await actOf(context, integration, mapping, order));
  const filling = mapping.template ? fillTemplate(mapping.template, payload) : undefined;
  const reasons: Reason[] = [];
  if (!order)
    reasons.push({
      code: CODES.orderIdMissing,
      message: `There is no order id at ${paths.orderId.join(', ')}.`,
      field: 'orderId',
      path: paths.orderId[0] ?? null,
    });
  const found = await customerOf(context, integration, mapping, payload).catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    reasons.push(error.reason);
  });
  reasons.push(...(filling?.faults ?? []));
  let shown: Awaited<ReturnType<typeof previewTemplate>> | undefined;
  if (found && filling && mapping.template && filling.faults.length === 0) {
    const { name, language, channelId } = mapping.template;
    shown = await previewTemplate(context, { ...filling.values, ...found.recipient, name, language, channelId }).catch(
      (error: unknown) => {
        const reason = reasonOf(error, sourcesOf(filling));
        if (!reason) throw error;
        reasons.push(reason);
        return undefined;
      },
    );
  }
  const outcome = mismatch ? 'not_meant' : done ? 'done' : reasons.length > 0 ? 'refuses' : 'acts';
  return {
    mapping,
    outcome,
    mismatch,
    reasons,
    person: readTexts(payload, paths),
    phone: found?.phone ?? null,
    contact_id: found?.contactId ?? null,
    parameters: filling?.parameters ?? [],
    text: shown?.body ?? null,
    rendered: (shown?.content['rendered'] as Rendered | undefined) ?? null,
  };
}

async function actOf(
  context: Context,
  integration: IntegrationRow,
  mapping: MappingRow,
  { id, status }: PublicOrder,
): Promise<ActRow | undefined> {
  const acts = await doneActs(context.db.read, tenantOf(context), integration.id, id, status ?? '');
  return acts.get(mapping.id);
}

/** @throws Refusal */
async function customerOf(context: Context, integration: IntegrationRow, mapping: MappingRow, payload: unknown) {
  const paths = pathsOf(integration.kind, mapping);
  const customer = readCustomer(payload, paths, integration.default_country);
  const { phone } = customer;
  const known = await contactByPhone(context.db.read, tenantOf(context), phone.key);
  const recipient = known
    ? { to: encodeGlobalId('Contact', tenantOf(context), known.id) }
    : { to: phone.e164, contact: contactFieldsOf(customer) };
  return { phone: phone.e164, contactId: known?.id ?? null, recipient };
}
