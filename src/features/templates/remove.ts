import { CodedError } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { deleteTemplates } from './changes.sql.ts';
import { removalEvents } from './events.ts';
import { templateOf } from './find.ts';
import { findActiveAccount } from './store.ts';
import { networkRefusal } from './sync/network-refusal.ts';
import type { TemplateRow } from './template.ts';

/**
 * Deletes one language of a template, on the network first. Other languages of the same name stay.
 * @returns the deleted template
 * @throws NOT_FOUND, MESSAGING_NOT_CONFIGURED, VALIDATION_ERROR (the network refuses), SERVICE_UNAVAILABLE
 */
export async function removeTemplate(context: Context, id: string): Promise<TemplateRow> {
  const tenantId = tenantOf(context);
  const template = await templateOf(context, id);
  const account = await findActiveAccount(context.db.write, tenantId, template.waba_id);
  const credentials = account && (await credentialsOf(context, tenantId, account.channel_id));
  if (!credentials)
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'No channel of this template’s business account is active.');
  await context.network
    .deleteTemplate(credentials, { id: template.network_id, name: template.name })
    .catch((error: unknown) => {
      throw networkRefusal(error, 'id');
    });
  await context.db.transaction(async trx =>
    append(trx, tenantId, removalEvents(await deleteTemplates(trx, tenantId, [template]))),
  );
  context.signals.send('events');
  return template;
}
