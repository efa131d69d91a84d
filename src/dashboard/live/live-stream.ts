import { useEffect, useState } from 'react';
import { type ParleyClient, ParleyError, type TypedDocument } from '../../client/client.ts';
import { LiveEventsDocument, LiveRatesDocument, LiveStartDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { type Fault, requestFault } from '../texts/faults.ts';
import { EventBuffer } from './event-buffer.ts';
import { Rates } from './rates.ts';

interface LiveStreams {
  readonly events: EventBuffer;
  readonly rates: Rates;
  readonly problem: Fault | undefined;
}

/**
 * Follows the events that the session may read and their rates, outside of the cache and of React. Both streams begin at the same
 * cursor, and resume after their last value when a connection was lost.
 */
export function useLiveStreams(): LiveStreams {
  const { client } = useAccount();
  const [events] = useState(() => new EventBuffer());
  const [rates] = useState(() => new Rates());
  const [problem, setProblem] = useState<Fault>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const run = async (): Promise<void> => {
      const { eventCursor } = await client.query(LiveStartDocument, {}, { signal });
      await Promise.all([
        followFrom(client, LiveEventsDocument, eventCursor, signal, data => {
          events.add(data.events);
          return data.events.cursor;
        }),
        followFrom(client, LiveRatesDocument, eventCursor, signal, ({ eventRates }) => {
          for (const count of eventRates.counts) rates.add(count, Date.now());
          return eventRates.cursor;
        }),
      ]);
    };
    run().catch((error: unknown) => {
      if (!signal.aborted) setProblem(requestFault(error));
    });
    return () => controller.abort();
  }, [client, events, rates]);
  return { events, rates, problem };
}

/** Follows a subscription from a cursor, and resumes it when it was too slow. @param take receives a value; returns its cursor */
async function followFrom<Data>(
  client: ParleyClient,
  document: TypedDocument<Data, { after?: string | null | undefined }>,
  start: string | null,
  signal: AbortSignal,
  take: (data: Data) => string,
): Promise<void> {
  let after = start;
  for (;;) {
    try {
      for await (const data of client.subscribe(document, { after }, { signal })) after = take(data);
      return;
    } catch (error) {
      // The gateway ends the stream of a page that reads too slowly, for example in the background: resume at the cursor.
      if (!(error instanceof ParleyError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      signal.throwIfAborted();
    }
  }
}
