import { useEffect, useState } from 'react';
import { type ParleyClient, ParleyError, type TypedDocument } from '../../client/client.ts';
import { LiveEventsDocument, LiveRatesDocument, LiveStartDocument } from '../documents.generated.ts';
import { useAccount } from '../session/account.tsx';
import { EventBuffer } from './event-buffer.ts';
import { Rates } from './rates.ts';

interface LiveStreams {
  readonly events: EventBuffer;
  readonly rates: Rates;
  readonly problem: string | undefined;
}

/**
 * Follows the events that the session may read and their rates, outside of the cache and of React. Both streams begin at one
 * place of the log, and resume behind their last value after a lost connection.
 */
export function useLiveStreams(): LiveStreams {
  const { client } = useAccount();
  const [events] = useState(() => new EventBuffer());
  const [rates] = useState(() => new Rates());
  const [problem, setProblem] = useState<string>();
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
    run().catch((error: Error) => {
      if (!signal.aborted) setProblem(error.message);
    });
    return () => controller.abort();
  }, [client, events, rates]);
  return { events, rates, problem };
}

/** @param take returns the cursor behind a value */
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
      // A page in the background may read more slowly than events arrive: the gateway ends the stream, which goes on at its cursor.
      if (!(error instanceof ParleyError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      signal.throwIfAborted();
    }
  }
}
