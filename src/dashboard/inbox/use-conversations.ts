import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type CombinedError, useClient, useQuery } from 'urql';
import { type ConversationRowFragment, ConversationsDocument } from '../documents.generated.ts';
import { filterOf, type InboxFilters, isShownBy } from './filters.ts';
import { useLasting } from './use-lasting.ts';

const PAGE = 30;
/** Changes that come together are one look at the list. */
const REFETCH_AFTER_MS = 400;
/** A busy account changes all the time: each open inbox read the list twice a second. */
const MIN_INTERVAL_MS = 2_000;

export interface Conversations {
  /** By last activity. */
  readonly rows: readonly ConversationRowFragment[];
  readonly isLoaded: boolean;
  /** Whether the first page of these filters is being read; not while it is read again. */
  readonly isBusy: boolean;
  readonly error: CombinedError | undefined;
  readonly hasMore: boolean;
  /** Adds the next page. */
  readonly more: () => void;
  /** Reads the first page again, soon. */
  readonly reload: () => void;
  /**
   * Takes a change that an event told.
   * @param row null: the conversation was deleted, or is part of another one
   * @param isStatusOnly whether the change moves nothing in a list that has the conversation
   */
  readonly take: (id: string, row: ConversationRowFragment | null, isStatusOnly: boolean) => void;
}

/**
 * The conversations that meet the filters. A change reads the first page again, and those that other conversations have pushed out of it
 * are kept while there are later pages: they stand between the two, in neither.
 */
export function useConversations(filters: InboxFilters): Conversations {
  const variables = useMemo(
    () => ({ filter: filterOf(filters), search: filters.search || undefined, first: PAGE }),
    [filters],
  );
  const [{ data: present, fetching, error }, refetch] = useQuery({
    query: ConversationsDocument,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const reloadedAt = useRef(Number.NEGATIVE_INFINITY);
  const reload = useCallback(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        reloadedAt.current = performance.now();
        refetch({ requestPolicy: 'network-only' });
      },
      Math.max(REFETCH_AFTER_MS, reloadedAt.current + MIN_INTERVAL_MS - performance.now()),
    );
  }, [refetch]);
  const data = useLasting({ key: variables, data: present, isBusy: fetching, error, reload });
  const nodes = data?.conversations?.nodes;
  const read = useRef<typeof variables>(undefined);
  if (!fetching && data) read.current = variables;
  const isBusy = fetching && read.current !== variables;
  const seen = useRef<ReadonlyMap<string, ConversationRowFragment>>(new Map());
  /** Deleted, or part of another one: neither kept, nor shown until the cache has removed it from its pages. */
  const gone = useRef(new Set<string>());
  const list = useRef(variables);
  // Counts the changes of rows that are in no page.
  const [version, setVersion] = useState(0);
  const rows = useMemo(() => {
    if (version < 0 || !nodes) return [];
    if (list.current !== variables) seen.current = new Map();
    list.current = variables;
    const present = new Map(nodes.map(row => [row.id, row]));
    const end = nodes
      .slice(0, PAGE)
      .reduce((oldest, row) => (activityOf(row) < oldest ? activityOf(row) : oldest), '~');
    // Whether a row still meets a search is not known here.
    const isKept = nodes.length > PAGE && filters.search === '';
    const pushedOut = [...seen.current.values()].filter(
      row => isKept && !present.has(row.id) && activityOf(row) <= end,
    );
    seen.current = new Map([...pushedOut, ...nodes].filter(row => !gone.current.has(row.id)).map(row => [row.id, row]));
    return [...seen.current.values()]
      .filter(row => isShownBy(filters, row))
      .sort((a, b) => activityOf(b).localeCompare(activityOf(a)));
  }, [nodes, variables, filters, version]);
  const known = useRef(rows);
  known.current = rows;

  const take = useCallback<Conversations['take']>(
    (id, row, isStatusOnly) => {
      if (row) gone.current.delete(id);
      else gone.current.add(id);
      if (seen.current.has(id)) {
        const rows = new Map(seen.current);
        if (row) rows.set(id, row);
        else rows.delete(id);
        seen.current = rows;
        setVersion(before => before + 1);
      }
      if (!isStatusOnly || !known.current.some(each => each.id === id)) reload();
    },
    [reload],
  );
  const graphql = useClient();
  const pageInfo = data?.conversations?.pageInfo;
  const more = useCallback(() => {
    if (pageInfo?.hasNextPage)
      void graphql.query(ConversationsDocument, { ...variables, after: pageInfo.endCursor }).toPromise();
  }, [graphql, variables, pageInfo]);
  const hasMore = pageInfo?.hasNextPage ?? false;
  return { rows, isLoaded: data !== undefined, isBusy, error, hasMore, more, reload, take };
}

const activityOf = ({ lastActivityAt }: ConversationRowFragment): string => lastActivityAt ?? '';
