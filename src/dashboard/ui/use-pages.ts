import { useState } from 'react';
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useQuery } from 'urql';

interface PageInfo {
  readonly hasNextPage: boolean;
  readonly endCursor: string | null;
}

interface Options<Data, Variables extends AnyVariables> {
  readonly query: TypedDocumentNode<Data, Variables>;
  /** Without `after`; another object with the same values is the same list. */
  readonly variables: Omit<Variables, 'after'>;
  readonly pageInfoOf: (data: Data) => PageInfo | undefined;
}

export interface Pages<Data> {
  readonly data: Data | undefined;
  readonly error: CombinedError | undefined;
  readonly isBusy: boolean;
  /** Adds the next page to `data`; undefined: this is the end. */
  readonly more: (() => void) | undefined;
  /** Begins again with the first page. */
  readonly reload: () => void;
}

/**
 * A list that grows by a page at a time, from its newest state on: the cache joins the pages, and drops the later ones when the first
 * is read again (`api/list-pages.ts`).
 */
export function usePages<Data, Variables extends AnyVariables>({
  query,
  variables,
  pageInfoOf,
}: Options<Data, Variables>): Pages<Data> {
  const list = JSON.stringify(variables);
  const [position, setPosition] = useState<{ readonly list: string; readonly after: string }>();
  const after = position?.list === list ? position.after : undefined;
  const [{ data, error, fetching }, refetch] = useQuery<Data, AnyVariables>({
    query,
    variables: { ...variables, after },
    requestPolicy: 'cache-and-network',
  });
  const { hasNextPage, endCursor } = (data && pageInfoOf(data)) ?? {};
  return {
    data,
    error,
    isBusy: fetching,
    more: hasNextPage && endCursor ? () => setPosition({ list, after: endCursor }) : undefined,
    reload: () => (after === undefined ? refetch({ requestPolicy: 'network-only' }) : setPosition(undefined)),
  };
}
