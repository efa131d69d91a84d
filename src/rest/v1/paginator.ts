import type { Components } from '../openapi/components.ts';
import { closedObject, type JsonSchema } from '../openapi/schema.ts';
import type { Call } from '../runtime/call.ts';
import { pageOf, type RouteResponse } from '../runtime/route.ts';

export interface PageLink {
  readonly url: string | null;
  readonly label: string;
  readonly active: boolean;
}

/** Pages shown on each side of the current one. */
const AROUND = 3;
/** Without a gap between the first or last page and the current one if it is nearer than this. */
const END = AROUND + 4;
const DOTS = '...';

/**
 * The pages that a paginator names, with gaps: all of them up to 13, otherwise the first two, the last two and those around the
 * current one (Laravel 11, `Illuminate\\Pagination\\UrlWindow`).
 */
export function pagesShown(current: number, last: number): (number | typeof DOTS)[] {
  if (last < 2 * AROUND + 8) return range(1, last);
  if (current <= END) return [...range(1, END + AROUND), DOTS, ...range(last - 1, last)];
  if (current > last - END) return [...range(1, 2), DOTS, ...range(last - (END + AROUND - 1), last)];
  return [...range(1, 2), DOTS, ...range(current - AROUND, current + AROUND), DOTS, ...range(last - 1, last)];
}

/** One page of a list in the format of Laravel's `LengthAwarePaginator`, which clients of version 1 read. */
export function paginate(
  page: NonNullable<RouteResponse['page']>,
  rows: readonly unknown[],
  call: Pick<Call, 'pageUrl' | 'listUrl'>,
) {
  const { current_page: current, last_page: last, per_page, from, to, total } = pageOf(page, rows.length);
  const previous = current > 1 ? call.pageUrl(current - 1) : null;
  const next = current < last ? call.pageUrl(current + 1) : null;
  const links: PageLink[] = [
    { url: previous, label: '&laquo; Previous', active: false },
    ...pagesShown(current, last).map(number =>
      number === DOTS
        ? { url: null, label: DOTS, active: false }
        : { url: call.pageUrl(number), label: String(number), active: number === current },
    ),
    { url: next, label: 'Next &raquo;', active: false },
  ];
  return {
    current_page: current,
    data: rows,
    first_page_url: call.pageUrl(1),
    from,
    last_page: last,
    last_page_url: call.pageUrl(last),
    links,
    next_page_url: next,
    path: call.listUrl,
    per_page,
    prev_page_url: previous,
    to,
    total,
  };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const text = (description: string): JsonSchema => ({ type: 'string', description });
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const whole = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], minimum: 1, description });

const LINK = closedObject({
  url: textOrNull('URL of the page; null for gaps, and beyond the first and last page.'),
  label: text('The label, as HTML.'),
  active: { type: 'boolean', description: 'Whether it is the current page.' },
});

export function paginatorSchema(row: JsonSchema, components: Components): JsonSchema {
  const properties = {
    current_page: whole('Number of the present page.'),
    data: { type: 'array', items: row },
    first_page_url: text('URL of the first page.'),
    from: wholeOrNull('Number of the first row of this page, starting at 1; null on an empty page.'),
    last_page: whole('Number of the last page.'),
    last_page_url: text('URL of the last page.'),
    links: {
      type: 'array',
      items: components.add('schemas', 'PageLink', LINK),
      description: 'Navigation links, in order.',
    },
    next_page_url: textOrNull('URL of the next page; null on the last page.'),
    path: text('URL of the list without parameters.'),
    per_page: whole('Number of rows in a page.'),
    prev_page_url: textOrNull('URL of the previous page; null on the first page.'),
    to: wholeOrNull('Number of the last row of this page; null on an empty page.'),
    total: whole('Number of rows in the whole list.'),
  };
  return closedObject(properties);
}
