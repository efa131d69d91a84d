import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { decodeGlobalId, numericId } from '../../global-ids.ts';
import { tenantOf } from '../caller.ts';
import { findTemplate, getTemplates } from './store.ts';
import type { TemplateRow } from './template.ts';

/**
 * A template by global id, by the network's id or by databaseId. The network's ids have fifteen digits and more: what ours
 * will not reach is no question of which one is meant.
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
