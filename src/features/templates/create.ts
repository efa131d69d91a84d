import { requireFeature } from '../../core/plan-features.ts';
import { callerOf } from '../../core/principal.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { requireAccount } from './accounts.ts';
import { checkDefinition, type DefinitionInput } from './definition.ts';
import { changeEvents } from './events.ts';
import { templateOf } from './find.ts';
import { insertTemplate } from './store.ts';
import { networkRefusal } from './sync/network-refusal.ts';
import type { TemplateRow } from './template.ts';

export interface CreateTemplateInput extends DefinitionInput {
  /** The channel whose business account gets the template; undefined: the default channel. */
  readonly channelId: number | undefined;
}

/**
 * Submits a template to the network for review; an event reports when `PENDING` becomes `APPROVED` or `REJECTED`. The network
 * has the template before the row is written; if the process dies in between, the next sync inserts it.
 * @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, NOT_FOUND (channel), MESSAGING_NOT_CONFIGURED, SERVICE_UNAVAILABLE
 */
export async function createTemplate(
  context: Context,
  { channelId, ...input }: CreateTemplateInput,
): Promise<TemplateRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const definition = checkDefinition(input);
  const account = await requireAccount(context.db.write, tenant.id, channelId);
  const credentials = await credentialsOf(context, tenant.id, account.channel_id);
  if (!credentials) throw new Error(`Channel ${account.channel_id} has no credentials.`);
  const submitted = await context.network.createTemplate(credentials, definition).catch((error: unknown) => {
    throw networkRefusal(error, 'components');
  });
  const row = await context.db.transaction(async trx => {
    const created = await insertTemplate(trx, tenant.id, account.waba_id, {
      network_id: submitted.id,
      name: definition.name,
      language: definition.language,
      category: submitted.category,
      status: submitted.status,
      status_reason: null,
      parameter_format: definition.parameterFormat,
      quality: null,
      components: definition.components,
    });
    if (created) await append(trx, tenant.id, changeEvents([{ row: created, previous: null }]));
    return created;
  });
  context.signals.send('events');
  // A sync may have inserted it first, possibly already reviewed.
  return row ?? templateOf(context, submitted.id);
}
