import type { Context } from '../../context.ts';
import { append } from '../../events.ts';
import { callerOf } from '../caller.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { requireFeature } from '../tenants/feature.ts';
import { eventsOf } from './changes.ts';
import { checkDefinition, type DefinitionInput } from './definition.ts';
import { templateOf } from './find.ts';
import { networkRefusal } from './network-refusal.ts';
import { sourceOf } from './source-of.ts';
import { insertTemplate } from './store.ts';
import type { TemplateRow } from './template.ts';

export interface CreateTemplateInput extends DefinitionInput {
  /** Whose business account gets it. */
  readonly channelId: number | undefined;
}

/**
 * Submits a template to the network, which reviews it: `PENDING` becomes `APPROVED` or `REJECTED`, told by an event. The
 * network has it before our row stands; should we die in between, the next sync finds it.
 * @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, NOT_FOUND (channel), MESSAGING_NOT_CONFIGURED, SERVICE_UNAVAILABLE
 */
export async function createTemplate(
  context: Context,
  { channelId, ...input }: CreateTemplateInput,
): Promise<TemplateRow> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'templates');
  const definition = checkDefinition(input);
  const account = await sourceOf(context.db.write, tenant.id, channelId);
  const credentials = await credentialsOf(context, tenant.id, account.channel_id);
  if (!credentials) throw new Error('a channel that was just read is gone');
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
    if (created) await append(trx, tenant.id, eventsOf([{ row: created, previous: null }]));
    return created;
  });
  context.signals.send('events');
  // Its review may have been faster than we: a sync has read it then, with what came of it.
  return row ?? templateOf(context, submitted.id);
}
