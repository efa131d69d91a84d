import { CodedError } from '../../core/errors.ts';
import { requireId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import { append } from '../../events/append.ts';
import type { Context } from '../../schema/context.ts';
import { credentialsOf } from '../channels/credentials.ts';
import { onceAfter } from '../tenancy/idempotency/once.ts';
import { deleteTemplates } from './changes.sql.ts';
import { removalEvents } from './events.ts';
import { requireTemplate } from './find.ts';
import { findActiveAccount } from './store.ts';
import { networkRefusal } from './sync/network-refusal.ts';
import type { TemplateRow } from './template.ts';

/**
 * Deletes one language of a template, on the network first. Other languages of the same name stay.
 * @param text a global id or databaseId
 * @returns the id of the deleted template
 * @throws NOT_FOUND, MESSAGING_NOT_CONFIGURED, VALIDATION_ERROR (the network refuses), SERVICE_UNAVAILABLE
 */
export async function removeTemplate(
  context: Context,
  text: string,
  idempotencyKey: string | null | undefined,
): Promise<number> {
  const tenantId = tenantOf(context);
  const id = requireId(tenantId, 'Template', text);
  const keyed = { operation: 'deleteTemplate', key: idempotencyKey, input: { id } };
  await onceAfter<TemplateRow, void>(context, keyed, () => removeFromNetwork(context, tenantId, id), {
    run: async (trx, template) => {
      await append(trx, tenantId, removalEvents(await deleteTemplates(trx, tenantId, [template])));
    },
    store: () => ({ id }),
    rebuild: async () => {},
  });
  context.signals.send('events');
  return id;
}

async function removeFromNetwork(context: Context, tenantId: number, id: number): Promise<TemplateRow> {
  const template = await requireTemplate(context, String(id));
  const account = await findActiveAccount(context.db.write, tenantId, template.waba_id);
  const credentials = account && (await credentialsOf(context, tenantId, account.channel_id));
  if (!credentials)
    throw new CodedError('MESSAGING_NOT_CONFIGURED', 'No channel of this template’s business account is active.');
  await context.network
    .deleteTemplate(credentials, { id: template.network_id, name: template.name })
    .catch((error: unknown) => {
      throw networkRefusal(error, 'id');
    });
  return template;
}
