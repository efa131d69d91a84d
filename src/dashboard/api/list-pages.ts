import type { UpdateResolver } from '@urql/exchange-graphcache';

/**
 * Drops the later pages of a list when its first page is read again: joined to a newer first page, they would leave gaps, repeat rows and
 * show deleted rows.
 */
export const forgetLaterPages: UpdateResolver = (_result, args, cache, { parentKey, fieldName }) => {
  if (args['after'] != null) return;
  const list = listOf(args);
  for (const field of cache.inspectFields(parentKey))
    if (field.fieldName === fieldName && field.arguments?.['after'] != null && listOf(field.arguments) === list)
      cache.invalidate(parentKey, fieldName, field.arguments);
};

/** Arguments of a list without those of its pages. */
export function listOf({ after, before, ...list }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(list).sort(([left], [right]) => left.localeCompare(right)));
}
