import { useEffect, useState } from 'react';
import { LiveEventsDocument, LiveStartDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { EventBuffer } from './event-buffer.ts';

/** Follows all events that the session may read, outside of the cache and of React. The stream resumes after a lost connection. */
export function useEventBuffer(): { readonly buffer: EventBuffer; readonly problem: string | undefined } {
  const { client } = useAccount();
  const [buffer] = useState(() => new EventBuffer());
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const follow = async (): Promise<void> => {
      const { eventCursor } = await client.query(LiveStartDocument, {}, { signal: controller.signal });
      const variables = { after: eventCursor, filter: undefined };
      for await (const { events } of client.subscribe(LiveEventsDocument, variables, { signal: controller.signal }))
        buffer.add(events, Date.now());
    };
    follow().catch((error: Error) => {
      if (!controller.signal.aborted) setProblem(error.message);
    });
    return () => controller.abort();
  }, [client, buffer]);
  return { buffer, problem };
}
