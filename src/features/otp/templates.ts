import type { Context } from '../../context.ts';
import { callerOf } from '../caller.ts';
import type { ListArgs, Page } from '../lists/list.ts';
import { templatePage } from '../templates/list.ts';
import { APPROVED, type TemplateRow } from '../templates/template.ts';
import { requireFeature } from '../tenants/feature.ts';

/** The templates that can carry a code. @throws FEATURE_NOT_AVAILABLE */
export async function authenticationTemplates(context: Context, args: ListArgs): Promise<Page<TemplateRow>> {
  requireFeature(callerOf(context).tenant, 'otp');
  const filter = args.filter ?? {};
  return templatePage(context, {
    ...args,
    filter: {
      ...filter,
      category: only('AUTHENTICATION', filter['category']),
      status: only(APPROVED, filter['status']),
    },
  });
}

/** What was asked for, and this word alone. */
function only(word: string, asked: unknown): object {
  const comparison = (asked ?? {}) as { readonly in?: readonly string[] | null };
  return { ...comparison, in: (comparison.in ?? [word]).filter(given => given === word) };
}
