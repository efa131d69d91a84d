import type { Context } from '../../context.ts';
import { CodedError } from '../../errors.ts';
import { append } from '../../events.ts';
import { tenantOf } from '../caller.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { removalsOf } from './changes.ts';
import { templateOf } from './find.ts';
import { networkRefusal } from './network-refusal.ts';
import { deleteTemplates } from './store.ts';
import { findSource } from './syncs-store.ts';
import type { TemplateRow } from './template.ts';

/**
 * Takes one language of a template away, on the network first. Other languages of the same name stay.
 * @returns what it was
 * @throws NOT_FOUND, MESSAGING_NOT_CONFIGURED, VALIDATION_ERROR (the network refuses), SERVICE_UNAVAILABLE
 */
export async function removeTemplate(context: Context, id: string): Promise<TemplateRow> {
  const tenantId = tenantOf(context);
  const template = await templateOf(context, id);
  const account = await findSource(context.db.write, tenantId, template.waba_id);
  const credentials = account && (await credentialsOf(context, tenantId, account.channel_id));
  if (!credentials)
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'No channel of this template’s business account is active.');
  await context.network
    .deleteTemplate(credentials, { id: template.network_id, name: template.name })
    .catch((error: unknown) => {
      throw networkRefusal(error, 'id');
    });
  await context.db.transaction(async trx =>
    append(trx, tenantId, removalsOf(await deleteTemplates(trx, tenantId, [template]))),
  );
  context.signals.send('events');
  return template;
}
