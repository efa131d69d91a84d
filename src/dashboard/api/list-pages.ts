import type { Cache, UpdateResolver } from '@urql/exchange-graphcache';

/**
 * Drops the later pages of a list when its first page is read: joined to a newer first page, they would leave a gap or repeat rows, and
 * show what was deleted.
 */
export const forgetLaterPages: UpdateResolver = (_result, args, cache, { parentKey, fieldName }) => {
  if (args['after'] != null) return;
  const list = listOf(args);
  for (const field of cache.inspectFields(parentKey))
    if (field.fieldName === fieldName && field.arguments?.['after'] != null && listOf(field.arguments) === list)
      cache.invalidate(parentKey, fieldName, field.arguments);
};

/**
 * Drops the earlier pages of a list that the newest one, which is read again, no longer adjoins: joined, they would hide that something
 * is missing between them.
 */
export const forgetSeveredPages: UpdateResolver = (result, args, cache, { parentKey, fieldName }) => {
  if (args['before'] != null) return;
  const list = listOf(args);
  const pages = cache
    .inspectFields(parentKey)
    .filter(
      ({ fieldName: name, arguments: its }) => name === fieldName && its?.['before'] != null && listOf(its) === list,
    );
  const { pageInfo } = (result[fieldName] ?? {}) as { readonly pageInfo?: { readonly startCursor?: string | null } };
  let start: unknown = pageInfo?.startCursor;
  const severed = new Set(pages);
  for (let page = pages.find(isBefore(start)); page && severed.delete(page); page = pages.find(isBefore(start)))
    start = startOf(cache, cache.resolve(parentKey, page.fieldKey));
  for (const page of severed) cache.invalidate(parentKey, fieldName, page.arguments);
};

const isBefore =
  (cursor: unknown) =>
  ({ arguments: its }: { readonly arguments: Readonly<Record<string, unknown>> | null }): boolean =>
    its?.['before'] === cursor;

function startOf(cache: Cache, page: unknown): unknown {
  const pageInfo = typeof page === 'string' ? cache.resolve(page, 'pageInfo') : undefined;
  return typeof pageInfo === 'string' ? cache.resolve(pageInfo, 'startCursor') : undefined;
}

/** Arguments of a list without those of its pages. */
function listOf({ after, before, ...list }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(list).sort(([left], [right]) => left.localeCompare(right)));
}
