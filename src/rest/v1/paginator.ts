import type { Call } from '../call.ts';
import type { Answer } from '../route.ts';

export interface PageLink {
  readonly url: string | null;
  readonly label: string;
  readonly active: boolean;
}

/** Pages shown on each side of the current one, before the row is broken by dots. */
const AROUND = 3;
/** Pages that stand together at an end: nearer than this to it, there is no gap to be shown. */
const END = AROUND + 4;
const DOTS = '...';

/**
 * Which pages a paginator names, in order, and where it leaves some out: all of them up to 13, else the first two, the last
 * two and those around the current one (Laravel 11, `Illuminate\\Pagination\\UrlWindow`).
 */
export function pagesShown(current: number, last: number): (number | typeof DOTS)[] {
  if (last < 2 * AROUND + 8) return range(1, last);
  if (current <= END) return [...range(1, END + AROUND), DOTS, ...range(last - 1, last)];
  if (current > last - END) return [...range(1, 2), DOTS, ...range(last - (END + AROUND - 1), last)];
  return [...range(1, 2), DOTS, ...range(current - AROUND, current + AROUND), DOTS, ...range(last - 1, last)];
}

/** One page of a list as Laravel's `LengthAwarePaginator` writes it, which is what clients of version 1 read. */
export function paginate(
  { first, offset, total }: NonNullable<Answer['page']>,
  rows: readonly unknown[],
  call: Pick<Call, 'pageUrl' | 'listUrl'>,
) {
  const current = offset / first + 1;
  const last = Math.max(1, Math.ceil(total / first));
  const previous = current > 1 ? call.pageUrl(current - 1) : null;
  const next = current < last ? call.pageUrl(current + 1) : null;
  const links: PageLink[] = [
    { url: previous, label: '&laquo; Previous', active: false },
    ...pagesShown(current, last).map(page =>
      page === DOTS
        ? { url: null, label: DOTS, active: false }
        : { url: call.pageUrl(page), label: String(page), active: page === current },
    ),
    { url: next, label: 'Next &raquo;', active: false },
  ];
  return {
    current_page: current,
    data: rows,
    first_page_url: call.pageUrl(1),
    from: rows.length > 0 ? offset + 1 : null,
    last_page: last,
    last_page_url: call.pageUrl(last),
    links,
    next_page_url: next,
    path: call.listUrl,
    per_page: first,
    prev_page_url: previous,
    to: rows.length > 0 ? offset + rows.length : null,
    total,
  };
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
