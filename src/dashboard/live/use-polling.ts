import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import type { TypedDocument } from '../../client/client.ts';

const POLL_MS = 10_000;

/** Repeats a query while the page is visible. While the gateway cannot be reached, the last answer stays. */
export function usePolling<Data, Variables extends object>(
  document: TypedDocument<Data, Variables>,
  variables: Variables,
): Data | undefined {
  const [{ data }, refetch] = useQuery<Data>({
    query: document as never,
    variables,
    requestPolicy: 'cache-and-network',
  });
  const [kept, keep] = useState(data);
  if (data !== undefined && data !== kept) keep(data);
  useEffect(() => {
    const timer = setInterval(() => {
      if (globalThis.document.visibilityState === 'visible') refetch({ requestPolicy: 'network-only' });
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [refetch]);
  return data ?? kept;
}
