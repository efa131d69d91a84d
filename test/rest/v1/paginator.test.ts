import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pagesShown, paginate } from '../../../src/rest/v1/paginator.ts';

const written = (current: number, last: number): string => pagesShown(current, last).join(' ');
const place = fc
  .integer({ min: 1, max: 5_000 })
  .chain(last => fc.tuple(fc.integer({ min: 1, max: last }), fc.constant(last)));

describe('the pages of a paginator', () => {
  // As `Illuminate\Pagination\UrlWindow` gives them with three pages on each side.
  it.each([
    [1, 1, '1'],
    [4, 13, '1 2 3 4 5 6 7 8 9 10 11 12 13'],
    [1, 14, '1 2 3 4 5 6 7 8 9 10 ... 13 14'],
    [7, 20, '1 2 3 4 5 6 7 8 9 10 ... 19 20'],
    [8, 20, '1 2 ... 5 6 7 8 9 10 11 ... 19 20'],
    [13, 20, '1 2 ... 10 11 12 13 14 15 16 ... 19 20'],
    [14, 20, '1 2 ... 11 12 13 14 15 16 17 18 19 20'],
    [20, 20, '1 2 ... 11 12 13 14 15 16 17 18 19 20'],
    [99, 20, '1 2 ... 11 12 13 14 15 16 17 18 19 20'],
  ])('page %i of %i: %s', (current, last, pages) => expect(written(current, last)).toBe(pages));

  it('always contain the first, the last and those around the current one, in order and once', () => {
    fc.assert(
      fc.property(place, ([current, last]) => {
        const pages = pagesShown(current, last).filter(page => page !== '...');
        expect(pages).toEqual([...new Set(pages)].sort((one, other) => one - other));
        const near = [current - 1, current, current + 1].filter(page => page >= 1 && page <= last);
        for (const page of [1, last, ...near]) expect(pages).toContain(page);
        expect(pages.length).toBeLessThanOrEqual(13);
      }),
    );
  });

  it('have dots exactly at gaps', () => {
    fc.assert(
      fc.property(place, ([current, last]) => {
        const pages = pagesShown(current, last);
        for (const [index, page] of pages.entries()) {
          const next = pages[index + 1];
          if (typeof page === 'number' && typeof next === 'number') expect(next).toBe(page + 1);
          if (page === '...') expect(Number(next) - Number(pages[index - 1])).toBeGreaterThan(1);
        }
      }),
    );
  });
});

describe('a paginator', () => {
  const call = { listUrl: 'http://x/list', pageUrl: (page: number) => `http://x/list?page=${page}` };
  const lists = fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 1, max: 100 }));
  const pageOf = (total: number, first: number, page: number) => {
    const offset = (page - 1) * first;
    const rows = Array.from({ length: Math.max(0, Math.min(first, total - offset)) }, (_, index) => offset + index + 1);
    return paginate({ first, offset, total }, rows, call);
  };

  it('visits each row once along next_page_url, and back along prev_page_url', () => {
    fc.assert(
      fc.property(lists, ([total, first]) => {
        const seen: unknown[] = [];
        let page: string | null = call.pageUrl(1);
        let steps = 0;
        let told = pageOf(total, first, 1);
        for (; page !== null; page = told.next_page_url, steps += 1) {
          told = pageOf(total, first, Number(page.split('=')[1]));
          if (told.data.length > 0) expect([told.from, told.to]).toEqual([told.data[0], told.data.at(-1)]);
          else expect([told.from, told.to]).toEqual([null, null]);
          seen.push(...told.data);
        }
        expect(seen).toEqual(Array.from({ length: total }, (_, index) => index + 1));
        expect(steps).toBe(told.last_page);
        expect(told.last_page_url).toBe(call.pageUrl(told.current_page));
        expect(told.prev_page_url).toBe(steps === 1 ? null : call.pageUrl(steps - 1));
      }),
      { numRuns: 50 },
    );
  });

  it('marks the current page only, between previous and next', () => {
    fc.assert(
      fc.property(lists, fc.nat(30), ([total, first], page) => {
        const { links, current_page, last_page, prev_page_url, next_page_url } = pageOf(total, first, page + 1);
        const marked = links.filter(({ active }) => active).map(({ label }) => label);
        expect(marked).toEqual(current_page <= last_page ? [String(current_page)] : []);
        expect(links.at(0)).toEqual({ url: prev_page_url, label: '&laquo; Previous', active: false });
        expect(links.at(-1)).toEqual({ url: next_page_url, label: 'Next &raquo;', active: false });
      }),
    );
  });
});
