import { use, useEffect, useRef } from 'react';
import type { CombinedError } from 'urql';
import { backoffMs } from '../../client/backoff.ts';
import { ParleyError } from '../../client/client.ts';
import { ConnectionContext } from '../session/connection.ts';

/** After these the same request may succeed; any other refusal of the gateway stays. */
const PASSING: ReadonlySet<unknown> = new Set([
  'SERVICE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'CURSOR_EXPIRED',
]);

export const codeOf = ({ networkError, graphQLErrors }: CombinedError): unknown =>
  networkError instanceof ParleyError ? networkError.code : graphQLErrors[0]?.extensions['code'];

/** Whether what failed may succeed later: the connection was lost, or the gateway was busy. */
export function mayPass(error: CombinedError): boolean {
  const code = codeOf(error);
  return code === undefined || PASSING.has(code);
}

interface Read<Data> {
  /** Of what: data of another key is not shown. */
  readonly key: unknown;
  /** Undefined after an error, although there was some before. */
  readonly data: Data | undefined;
  /** While the first data of a key is read, `data` is that of the key before. */
  readonly isBusy: boolean;
  readonly error: CombinedError | undefined;
  readonly reload: () => void;
}

/**
 * What a query has read last. Where reading it again fails, it stays, and is read again once the page is connected: otherwise a restart of
 * the gateway took the list, or the thread with its composer, off the screen until the next event.
 */
export function useLasting<Data>({ key, data, isBusy, error, reload }: Read<Data>): Data | undefined {
  const isConnected = use(ConnectionContext);
  const last = useRef<{ readonly key: unknown; readonly data: Data }>(undefined);
  if (data !== undefined && !isBusy) last.current = { key, data };
  const latestReload = useRef(reload);
  latestReload.current = reload;
  // Not derived from `error`: an event that changes the data clears that, and nothing has been read.
  const isMissed = useRef(false);
  const failures = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  useEffect(() => {
    if (error && mayPass(error)) isMissed.current = true;
    if (!isMissed.current && !error) failures.current = 0;
    if (!isMissed.current || !isConnected) return;
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        isMissed.current = false;
        latestReload.current();
      },
      backoffMs(failures.current++),
    );
  }, [error, isConnected]);
  const { current } = last;
  return data ?? (current && current.key === key ? current.data : undefined);
}
