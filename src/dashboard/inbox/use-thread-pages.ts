import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { THREAD_PAGE } from '../api/thread-updates.ts';
import { ThreadDocument, type ThreadQuery } from '../documents.generated.ts';

type Messages = NonNullable<NonNullable<ThreadQuery['conversation']>['messages']>;

/** Pages on the screen at once: the furthest is exchanged for the next one, so that a page costs the same wherever it stands. */
const MAX_PAGES = 10;

interface Range {
  /** `before` of the pages before the last one, the newest first, down to the oldest that is shown. */
  readonly cursors: readonly string[];
  /** Place of the newest page that is shown, counted from the last page (0), which has no cursor. */
  readonly newest: number;
}

const LAST_PAGE: Range = { cursors: [], newest: 0 };

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
  const [{ cursors, newest }, setRange] = useState(LAST_PAGE);
  const [loaded, setLoaded] = useState<ReadonlyMap<string, Messages>>(new Map());
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<CombinedError>();
  const queryOf = useCallback(
    (before: string) => graphql.query(ThreadDocument, { id: conversationKey, last: THREAD_PAGE, before }),
    [graphql, conversationKey],
  );
  const shown = useMemo(() => cursors.slice(Math.max(0, newest - 1)), [cursors, newest]);

  // What is shown follows the cache.
  const followed = useRef(new Map<string, () => void>());
  useEffect(() => {
    const isShown = ([before]: readonly [string, unknown]): boolean => shown.includes(before);
    for (const [before, unsubscribe] of followed.current)
      if (!shown.includes(before)) {
        followed.current.delete(before);
        unsubscribe();
      }
    for (const before of shown)
      if (!followed.current.has(before)) {
        const { unsubscribe } = queryOf(before).subscribe(({ data }) => {
          const page = data?.conversation?.messages;
          if (page) setLoaded(pages => new Map(pages).set(before, page));
        });
        followed.current.set(before, unsubscribe);
      }
    setLoaded(pages => ([...pages].every(isShown) ? pages : new Map([...pages].filter(isShown))));
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
    async (before: string): Promise<Messages | undefined> => {
      const { data, error } = await queryOf(before).toPromise();
      setFailure(error);
      return data?.conversation?.messages ?? undefined;
    },
    [queryOf],
  );
  /** Shows another range, of which one page is new. */
  const move = useCallback(
    async (before: string, next: Range): Promise<void> => {
      setLoading(true);
      const page = await read(before);
      keepPlace(() => {
        if (page) {
          setLoaded(pages => new Map(pages).set(before, page));
          setRange(next);
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
    const next = [...cursors, startCursor];
    void move(startCursor, { cursors: next, newest: Math.max(newest, next.length + 1 - MAX_PAGES) });
  }, [startCursor, isLoading, cursors, newest, move]);
  const newer = useCallback(() => {
    if (newest === 0 || isLoading) return;
    const next = { cursors: cursors.slice(0, newest + MAX_PAGES - 2), newest: newest - 1 };
    const before = cursors[newest - 2];
    if (before === undefined) keepPlace(() => setRange(next));
    else void move(before, next);
  }, [newest, isLoading, cursors, keepPlace, move]);
  const toEnd = useCallback(() => setRange(LAST_PAGE), []);

  // The last page was read again, and begins later than before: what lies between is read, too.
  const start = last?.pageInfo.startCursor;
  const [second] = cursors;
  useEffect(() => {
    if (second === undefined || !start || second === start) return;
    let isCurrent = true;
    const join = async (): Promise<void> => {
      const known = new Set((await read(second))?.edges.map(({ node }) => node.id));
      const between: string[] = [];
      for (let before = start; isCurrent; ) {
        between.push(before);
        const page = await read(before);
        const next = page?.pageInfo.startCursor;
        const isJoined = page && (next === second || page.edges.some(({ node }) => known.has(node.id)));
        if (!isCurrent) return;
        if (isJoined)
          return setRange(range => {
            const all = [...between, ...range.cursors];
            const at = range.newest === 0 ? 0 : range.newest + between.length;
            return { cursors: all, newest: Math.max(at, all.length + 1 - MAX_PAGES) };
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
  }, [start, second, isAtEnd, read, toEnd]);

  const edges = useMemo(() => {
    const pages = [...shown.toReversed().map(before => loaded.get(before)), newest === 0 ? last : undefined];
    // Pages that were read at different times may overlap.
    return [...new Map(pages.flatMap(page => page?.edges ?? []).map(edge => [edge.node.id, edge])).values()];
  }, [shown, loaded, newest, last]);
  return { edges, hasOlder: hasPreviousPage, hasNewer: newest > 0, isLoading, failure, older, newer, toEnd };
}
