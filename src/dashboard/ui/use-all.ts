import { useCallback, useEffect, useState } from 'react';
import { type AnyVariables, type CombinedError, type TypedDocumentNode, useClient, useQuery } from 'urql';

interface Connection<Row> {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface Options<Data, Row> {
  /** With a variable `after`. */
  readonly query: TypedDocumentNode<Data, { readonly after?: string | null | undefined }>;
  /** The same function at each call. */
  readonly connectionOf: (data: Data) => Connection<Row> | null | undefined;
  /** Default: a list that the cache has is not read again. */
  readonly isFresh?: boolean;
  readonly pause?: boolean;
}

export interface All<Row> {
  /** Undefined until the first page is read; while the list is read again, what was read before. */
  readonly rows: readonly Row[] | undefined;
  readonly isBusy: boolean;
  readonly error: CombinedError | undefined;
  readonly reload: () => void;
}

/** All rows of a list in which one is looked for by its name: a choice that ended with its first page would hide the others. */
export function useAll<Data, Row>({
  query,
  connectionOf,
  isFresh = false,
  pause = false,
}: Options<Data, Row>): All<Row> {
  const graphql = useClient();
  const [{ data, fetching, error }, refetch] = useQuery<Data, AnyVariables>({
    query,
    variables: {},
    pause,
    requestPolicy: isFresh ? 'cache-and-network' : 'cache-first',
  });
  const [all, setAll] = useState<readonly Row[]>();
  const [failure, setFailure] = useState<CombinedError>();
  // Counts the reloads: one that changes later pages alone returns the same first page.
  const [version, setVersion] = useState(0);
  const first = (data && connectionOf(data)) ?? undefined;
  const isLong = first?.pageInfo.hasNextPage ?? false;
  useEffect(() => {
    if (version < 0 || !first?.pageInfo.hasNextPage) return;
    let isCurrent = true;
    const readOn = async (): Promise<void> => {
      const rows = [...first.nodes];
      for (let after = first.pageInfo.endCursor; after !== null; ) {
        const page = await graphql.query(query, { after }, { requestPolicy: 'network-only' }).toPromise();
        if (!isCurrent) return;
        const next = page.data && connectionOf(page.data);
        setFailure(page.error);
        if (!next) return;
        rows.push(...next.nodes);
        after = next.pageInfo.hasNextPage ? next.pageInfo.endCursor : null;
      }
      setAll(rows);
    };
    void readOn();
    return () => {
      isCurrent = false;
    };
  }, [graphql, query, connectionOf, first, version]);
  const reload = useCallback(() => {
    refetch({ requestPolicy: 'network-only' });
    setVersion(before => before + 1);
  }, [refetch]);
  return { rows: isLong ? (all ?? first?.nodes) : first?.nodes, isBusy: fetching, error: error ?? failure, reload };
}
