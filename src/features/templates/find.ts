import { notFound } from '../../core/errors.ts';
import { tenantOf } from '../../core/principal.ts';
import type { Context } from '../../schema/context.ts';
import { findByNumber } from '../../schema/nodes.ts';
import { findByNetworkId, getTemplates } from './store.ts';
import type { TemplateRow } from './template.ts';

/** @param text a global id or databaseId */
export const templateById = (context: Context, text: string): Promise<TemplateRow | null> =>
  findByNumber(context, 'Template', text, getTemplates);

export async function templateByNetworkId(context: Context, networkId: string): Promise<TemplateRow | null> {
  return (await findByNetworkId(context.db.read, tenantOf(context), networkId)) ?? null;
}

/** Like `templateById`. @throws NOT_FOUND */
export async function requireTemplate(context: Context, text: string): Promise<TemplateRow> {
  const template = await templateById(context, text);
  if (!template) throw notFound('Template');
  return template;
}
