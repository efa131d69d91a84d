import type { Context } from '../../context.ts';
import { callerOf } from '../caller.ts';
import type { ListArgs, Page } from '../lists/list.ts';
import { templatePage } from '../templates/list.ts';
import { APPROVED, type TemplateRow } from '../templates/template.ts';
import { requireFeature } from '../tenants/feature.ts';

/** The templates that can carry a code. @throws FEATURE_NOT_AVAILABLE */
export async function authenticationTemplates(context: Context, args: ListArgs): Promise<Page<TemplateRow>> {
  requireFeature(callerOf(context).tenant, 'otp');
  return templatePage(context, { ...args, filter: { category: { eq: 'AUTHENTICATION' }, status: { eq: APPROVED } } });
}
