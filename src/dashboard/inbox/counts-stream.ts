import { useSubscription } from 'urql';
import { LiveCountsDocument, type LiveCountsSubscription } from '../documents.generated.ts';

/** How many conversations there are, at most once a second; undefined until the first value. */
export function useCountsStream(): LiveCountsSubscription['conversationCounts'] | undefined {
  const [{ data }] = useSubscription({ query: LiveCountsDocument });
  return data?.conversationCounts;
}
