import type { ListArgs } from '../../core/list-args.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf } from '../../core/principal.ts';
import type { Page } from '../../database/list.ts';
import type { Context } from '../../schema/context.ts';
import { templatePage } from '../templates/list.ts';
import { APPROVED, type TemplateRow } from '../templates/template.ts';

/** Approved authentication templates. @throws FEATURE_NOT_AVAILABLE */
export async function authenticationTemplates(context: Context, args: ListArgs): Promise<Page<TemplateRow>> {
  requireFeature(callerOf(context).tenant, 'otp');
  const filter = args.filter ?? {};
  return templatePage(context, {
    ...args,
    filter: {
      ...filter,
      category: restrictTo('AUTHENTICATION', filter['category']),
      status: restrictTo(APPROVED, filter['status']),
    },
  });
}

/** Restricts a filter to one value. */
function restrictTo(value: string, filter: unknown): object {
  const comparison = (filter ?? {}) as { readonly in?: readonly string[] | null };
  return { ...comparison, in: (comparison.in ?? [value]).filter(given => given === value) };
}
