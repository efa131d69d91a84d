import { notFound } from '../../core/errors.ts';
import { decodeGlobalId, numericId } from '../../core/global-ids.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import { findTemplate, getTemplates } from './store.ts';
import type { TemplateRow } from './template.ts';

/**
 * Finds a template by global id, by the network's id or by databaseId. The last two do not collide: the network's ids have at
 * least fifteen digits.
 * @throws NOT_FOUND
 */
export async function templateOf(context: Context, id: string): Promise<TemplateRow> {
  const { db } = context;
  const template = decodeGlobalId(id)
    ? (await getTemplates(db.read, tenantOf(context), [numericId('Template', id)]))[0]
    : /^\d{1,32}$/.test(id) && (await findTemplate(db.read, tenantOf(context), id));
  if (!template) throw notFound('Template');
  return template;
}
