import { invalid } from '../../core/errors.ts';
import { DEFAULT_PAGE_SIZE, type ListArgs, MAX_PAGE_SIZE } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import type { EventFilter, LoggedEvent } from '../../events/bus.ts';
import { type Cursor, encodeCursor, isAfter } from '../../events/cursor.ts';
import { requirePosition, withCursor } from '../../events/follow.ts';
import { countTenant, readTenant } from '../../events/log.sql.ts';
import type { Context } from '../../schema/context.ts';
import type { ConnectionPage } from '../../schema/lists.ts';

/**
 * One page of the log, by the cursors of subscriptions.
 * @param newestFirst the order of a timeline; by default that of the log
 * @throws VALIDATION_ERROR naming the argument, CURSOR_EXPIRED
 */
export async function eventPage(
  context: Context,
  { types, facets = [] }: EventFilter,
  args: ListArgs,
  newestFirst = false,
): Promise<ConnectionPage<LoggedEvent>> {
  const tenantId = tenantOf(context);
  const { size, isReversed, cursor } = pageOf(args);
  const position = cursor === undefined ? undefined : await requirePosition(context, tenantId, cursor);
  const { position: horizon } = await context.horizon.advance();
  const isDescending = isReversed !== newestFirst;
  const selection = { types: [...types], facets, after: undefined, before: horizon };
  const rows = await readTenant(
    context.db.read,
    tenantId,
    { ...selection, ...(position && (isDescending ? { before: earlier(position, horizon) } : { after: position })) },
    size + 1,
    isDescending ? 'desc' : 'asc',
  );
  const hasMore = rows.length > size;
  const page = rows.slice(0, size).map(withCursor);
  return {
    rows: isReversed ? page.reverse() : page,
    hasNextPage: isReversed ? position !== undefined : hasMore,
    hasPreviousPage: isReversed ? hasMore : position !== undefined,
    cursor: event => encodeCursor(event.cursor, context.logGeneration),
    total: () => countTenant(context.db.read, tenantId, selection),
  };
}

const earlier = (one: Cursor, other: Cursor): Cursor => (isAfter(one, other) ? other : one);

function pageOf({ first, after, last, before }: ListArgs) {
  const isReversed = last != null;
  if (isReversed && (first != null || after != null))
    throw invalid({ last: ['Use first and after, or last and before, not both.'] });
  if (!isReversed && before != null) throw invalid({ before: ['Can only be combined with last.'] });
  const size = last ?? first ?? DEFAULT_PAGE_SIZE;
  if (size < 1 || size > MAX_PAGE_SIZE)
    throw invalid({ [isReversed ? 'last' : 'first']: [`Must be from 1 to ${MAX_PAGE_SIZE}.`] }, 'OUT_OF_RANGE');
  return { size, isReversed, cursor: (isReversed ? before : after) ?? undefined };
}
