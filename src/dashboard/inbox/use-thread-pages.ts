import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { THREAD_PAGE } from '../api/thread-updates.ts';
import { ThreadDocument, type ThreadQuery, type ThreadQueryVariables } from '../documents.generated.ts';

type Messages = NonNullable<NonNullable<ThreadQuery['conversation']>['messages']>;

/** Pages on the screen at once: the furthest is exchanged for the next one, so that a page costs the same wherever it stands. */
const MAX_PAGES = 10;

/** Which page: the messages before or after a cursor, or around the message of an id. */
type PageKey = `${'before' | 'after' | 'around'} ${string}`;

interface Range {
  /** Adjoining pages without the last one, the newest first, down to the oldest that is shown. */
  readonly pages: readonly PageKey[];
  /** Place of the newest page that is shown, counted from the last page (0). */
  readonly newest: number;
  /** Whether the pages adjoin the last page, or overlap it. Those around a message that a search found do not at first. */
  readonly isJoined: boolean;
}

const LAST_PAGE: Range = { pages: [], newest: 0, isJoined: true };

export interface ThreadPages {
  /** Oldest first. */
  readonly edges: Messages['edges'];
  readonly hasOlder: boolean;
  /** Whether the last page is not shown. */
  readonly hasNewer: boolean;
  readonly isLoading: boolean;
  readonly failure: CombinedError | undefined;
  readonly older: () => void;
  readonly newer: () => void;
  /** Shows the last page alone. */
  readonly toEnd: () => void;
  /** Shows the page around the message of an id; none between it and the last page is read. */
  readonly jumpTo: (messageId: string) => void;
}

interface Options {
  readonly conversationKey: string;
  /** The last page, which follows new messages. */
  readonly last: Messages | null;
  /** Whether the reader follows new messages, and is not held anywhere. */
  readonly isAtEnd: RefObject<boolean>;
  /** Executes a change of what is shown, without moving what the reader sees. */
  readonly keepPlace: (change: () => void) => void;
}

/**
 * The part of a thread that is on the screen. Each page is a query of its own: where the cache joined them, it read and compared all loaded
 * messages with each page and each event.
 */
export function useThreadPages({ conversationKey, last, isAtEnd, keepPlace }: Options): ThreadPages {
  const graphql = useClient();
  const [{ pages, newest, isJoined }, setRange] = useState(LAST_PAGE);
  const [loaded, setLoaded] = useState<ReadonlyMap<PageKey, Messages>>(new Map());
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<CombinedError>();
  const queryOf = useCallback(
    (page: PageKey) => graphql.query(ThreadDocument, { id: conversationKey, ...argumentsOf(page) }),
    [graphql, conversationKey],
  );
  const shown = useMemo(() => pages.slice(Math.max(0, newest - 1)), [pages, newest]);

  // What is shown follows the cache.
  const followed = useRef(new Map<PageKey, () => void>());
  useEffect(() => {
    const isShown = ([page]: readonly [PageKey, unknown]): boolean => shown.includes(page);
    for (const [page, unsubscribe] of followed.current)
      if (!shown.includes(page)) {
        followed.current.delete(page);
        unsubscribe();
      }
    for (const page of shown)
      if (!followed.current.has(page)) {
        const { unsubscribe } = queryOf(page).subscribe(({ data }) => {
          const messages = data?.conversation?.messages;
          if (messages) setLoaded(all => new Map(all).set(page, messages));
        });
        followed.current.set(page, unsubscribe);
      }
    setLoaded(all => ([...all].every(isShown) ? all : new Map([...all].filter(isShown))));
  }, [queryOf, shown]);
  useEffect(() => {
    const all = followed.current;
    return () => {
      for (const unsubscribe of all.values()) unsubscribe();
      all.clear();
    };
  }, []);

  /** Reads a page. @returns undefined if it cannot be read */
  const read = useCallback(
    async (page: PageKey): Promise<Messages | undefined> => {
      const { data, error } = await queryOf(page).toPromise();
      setFailure(error);
      return data?.conversation?.messages ?? undefined;
    },
    [queryOf],
  );
  /** Shows another range, of which one page is new. */
  const move = useCallback(
    async (page: PageKey, next: (messages: Messages) => Range): Promise<void> => {
      setLoading(true);
      const messages = await read(page);
      keepPlace(() => {
        if (messages) {
          setLoaded(all => new Map(all).set(page, messages));
          setRange(next(messages));
        }
        setLoading(false);
      });
    },
    [read, keepPlace],
  );

  const oldest = shown.at(-1);
  const { hasPreviousPage = false, startCursor } = (oldest === undefined ? last : loaded.get(oldest))?.pageInfo ?? {};
  const older = useCallback(() => {
    if (!startCursor || isLoading) return;
    const page: PageKey = `before ${startCursor}`;
    const all = [...pages, page];
    void move(page, () => ({ pages: all, newest: Math.max(newest, all.length + 1 - MAX_PAGES), isJoined }));
  }, [startCursor, isLoading, pages, newest, isJoined, move]);
  const toEnd = useCallback(() => setRange(LAST_PAGE), []);

  /** Shows a page that may lie apart from the last one, before the older pages that adjoin it. */
  const moveApart = useCallback(
    (page: PageKey, olderPages: readonly PageKey[]) =>
      move(page, ({ edges }) => {
        if (edges.length === 0) return LAST_PAGE;
        const meetsLast = overlaps(edges, last?.edges);
        const place = meetsLast ? 0 : 1;
        return { pages: [page, ...olderPages].slice(0, place + MAX_PAGES - 1), newest: place, isJoined: meetsLast };
      }),
    [last, move],
  );
  const [first, second] = pages;
  const newer = useCallback(() => {
    if (newest === 0 || isLoading) return;
    if (newest > 1 || isJoined) {
      const next = { pages: pages.slice(0, newest + MAX_PAGES - 2), newest: newest - 1, isJoined };
      const page = pages[newest - 2];
      if (page === undefined) keepPlace(() => setRange(next));
      else void move(page, () => next);
      return;
    }
    const endCursor = first && loaded.get(first)?.pageInfo.endCursor;
    if (endCursor) void moveApart(`after ${endCursor}`, pages);
    else toEnd();
  }, [newest, isLoading, pages, isJoined, first, loaded, keepPlace, move, moveApart, toEnd]);
  const jumpTo = useCallback((messageId: string) => void moveApart(`around ${messageId}`, []), [moveApart]);

  // The last page was read again, and begins later than before: what lies between is read, too.
  const start = last?.pageInfo.startCursor;
  const isApart =
    isJoined &&
    first !== undefined &&
    !!start &&
    first !== `before ${start}` &&
    !overlaps(loaded.get(first)?.edges, last?.edges);
  useEffect(() => {
    if (!isApart || first === undefined || !start) return;
    let isCurrent = true;
    const join = async (): Promise<void> => {
      // Two: a page after another one may end with the last page.
      const adjoining = await Promise.all([first, second].map(page => (page ? read(page) : undefined)));
      const known = adjoining.flatMap(page => page?.edges ?? []);
      const between: PageKey[] = [];
      for (let before = start; isCurrent; ) {
        between.push(`before ${before}`);
        const page = await read(`before ${before}`);
        const next = page?.pageInfo.startCursor;
        if (!isCurrent) return;
        if (page && (first === `before ${next}` || overlaps(known, page.edges)))
          return setRange(range => {
            const all = [...between, ...range.pages];
            const at = range.newest === 0 ? 0 : range.newest + between.length;
            return { pages: all, newest: Math.max(at, all.length + 1 - MAX_PAGES), isJoined: true };
          });
        if (!next || between.length === MAX_PAGES) return toEnd();
        before = next;
      }
    };
    if (isAtEnd.current) toEnd();
    else void join();
    return () => {
      isCurrent = false;
    };
  }, [isApart, first, second, start, isAtEnd, read, toEnd]);

  const edges = useMemo(() => {
    const parts = [...shown.toReversed().map(page => loaded.get(page)), newest === 0 ? last : undefined];
    // Pages that were read at different times may overlap.
    return [...new Map(parts.flatMap(part => part?.edges ?? []).map(edge => [edge.node.id, edge])).values()];
  }, [shown, loaded, newest, last]);
  return { edges, hasOlder: hasPreviousPage, hasNewer: newest > 0, isLoading, failure, older, newer, toEnd, jumpTo };
}

function argumentsOf(page: PageKey): Omit<ThreadQueryVariables, 'id'> {
  const [side = '', value = ''] = page.split(' ');
  return side === 'after' ? { first: THREAD_PAGE, after: value } : { last: THREAD_PAGE, [side]: value };
}

/** Whether two pages have a message in common. */
function overlaps(a: Messages['edges'] = [], b: Messages['edges'] = []): boolean {
  const ids = new Set(a.map(({ node }) => node.id));
  return b.some(({ node }) => ids.has(node.id));
}
