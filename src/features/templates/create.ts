import { FieldErrorList, withFaultsOf } from '../../core/errors.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { SubmittedTemplate, TemplateDefinition } from '../../network/network.ts';
import type { Context } from '../../schema/context.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { onceAfter } from '../tenancy/idempotency/once.ts';
import { requireAccount } from './accounts.ts';
import { checkDefinition, type DefinitionInput } from './definition.ts';
import { changeEvents } from './events.ts';
import { findExample, withExample } from './example-file.ts';
import { requireTemplate } from './find.ts';
import { findByNetworkId, insertTemplate } from './store.ts';
import { networkRefusal } from './sync/network-refusal.ts';
import type { TemplateRow } from './template.ts';

export interface CreateTemplateInput extends DefinitionInput {
  /** The channel whose business account gets the template; undefined: the default channel. */
  readonly channelId: number | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** Template as submitted: its components have the handle of the example. */
type Submitted = SubmittedTemplate & Pick<TemplateDefinition, 'components'>;

/**
 * Submits a template to the network for review; an event reports when `PENDING` becomes `APPROVED` or `REJECTED`. The network
 * has the template before the row is written; if the process dies in between, the next sync inserts it.
 * @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, NOT_FOUND (channel), MESSAGING_NOT_CONFIGURED, SERVICE_UNAVAILABLE
 */
export async function createTemplate(
  context: Context,
  { channelId, idempotencyKey, ...input }: CreateTemplateInput,
): Promise<TemplateRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const errors = new FieldErrorList();
  const example = await findExample(context, input.components, errors);
  if (!errors.isEmpty) throw withFaultsOf(errors.toError(), () => checkDefinition(input));
  const definition = checkDefinition(input);
  const account = await requireAccount(context.db.write, tenant.id, channelId);
  const credentials = await credentialsOf(context, tenant.id, account.channel_id);
  if (!credentials) throw new Error(`Channel ${account.channel_id} has no credentials.`);
  const submit = async () => {
    try {
      const components = example
        ? await withExample(context, credentials, definition.components, example)
        : definition.components;
      const submitted = await context.network.createTemplate(credentials, { ...definition, components });
      return { ...submitted, components };
    } catch (error) {
      throw networkRefusal(error, 'components');
    }
  };
  const keyed = { operation: 'createTemplate', key: idempotencyKey, input: { channelId, ...input } };
  const row = await onceAfter<Submitted, TemplateRow>(context, keyed, submit, {
    run: (trx, submitted) => insert(trx, tenant.id, account.waba_id, definition, submitted),
    store: ({ id }) => ({ id }),
    rebuild: stored => requireTemplate(context, String((stored as { readonly id: number }).id)),
  });
  context.signals.send('events');
  return row;
}

async function insert(
  trx: Db,
  tenantId: number,
  wabaId: string,
  { name, language, parameterFormat }: TemplateDefinition,
  { id: networkId, category, status, components }: Submitted,
): Promise<TemplateRow> {
  const row = await insertTemplate(trx, tenantId, wabaId, {
    network_id: networkId,
    name,
    language,
    category,
    status,
    status_reason: null,
    parameter_format: parameterFormat,
    quality: null,
    components,
  });
  if (row) {
    await append(trx, tenantId, changeEvents([{ row, previous: null }]));
    return row;
  }
  // A sync has inserted it first, possibly already reviewed.
  const known = await findByNetworkId(trx, tenantId, networkId);
  if (!known) throw new Error(`Template ${networkId} is neither new nor known.`);
  return known;
}
