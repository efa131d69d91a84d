import { backoffMs, pause } from './backoff.ts';
import type { Connection } from './connection.ts';
import { ParleyError, type ResponseError } from './errors.ts';
import { isRefusal } from './token.ts';

interface Payload {
  readonly query: string;
  /** Of a trusted document, in place of `query`. */
  readonly documentId?: string;
  readonly operationName?: string | undefined;
  variables: Record<string, unknown>;
}

/** Maximum number of events that wait for the consumer. Above it, the subscription pauses and later resumes from its cursor. */
const MAX_WAITING = 1_000;

/**
 * Yields the results of a subscription. If it is resumable, no event that happens after its start is lost or repeated across lost
 * connections.
 * @param isResumable whether the document has a variable `$after`; it must select the `cursor` of its events
 * @throws ParleyError if the gateway refuses or ends the subscription or the session is over, TransportError for a close code after
 *   which clients must not reconnect
 */
export async function* follow(
  connection: Connection,
  payload: Payload,
  isResumable: boolean,
  signal?: AbortSignal,
): AsyncGenerator<unknown> {
  const { after: givenAfter } = payload.variables;
  const waiting: unknown[] = [];
  let outcome: { readonly error?: unknown } | undefined;
  let isPaused = false;
  let isResuming = false;
  let refusals = 0;
  let wake = (): void => undefined;
  let stop = (): void => undefined;
  const end = (error?: unknown): void => {
    outcome ??= { error };
    wake();
  };

  const setAfter = (after: unknown): void => {
    // The connection reads `variables` from this object when it sends the subscription.
    payload.variables = { ...payload.variables, after };
  };
  const needsStart = (): boolean => isResumable && payload.variables['after'] == null;
  const startAt = (cursor: string | undefined): void => {
    if (cursor !== undefined && needsStart()) setAfter(cursor);
  };

  const receive = (data: unknown): void => {
    refusals = 0;
    if (isResumable) setAfter(cursorOf(data) ?? givenAfter);
    waiting.push(data);
    wake();
  };

  const recover = (failure: unknown): void => {
    const refusal = Array.isArray(failure) ? new ParleyError(failure) : undefined;
    const mayPass = refusal && isResuming && !isRefusal(refusal);
    const error = mayPass ? undefined : (refusal ?? connection.finalError(failure));
    if (error) {
      end(error);
      return;
    }
    isResuming = true;
    open(!refusal, refusal ? backoffMs(refusals++) : 0);
  };

  function open(hasFailed = false, waitMs = 0): void {
    let isCurrent = true;
    let unsubscribe = (): void => undefined;
    stop = () => {
      isCurrent = false;
      unsubscribe();
    };
    const start = async (): Promise<void> => {
      if (waitMs > 0) await pause(waitMs);
      await connection.ready(hasFailed);
      // The acknowledgement of an open socket may be hours old, so its position is requested. A new socket reports the position before
      // the subscription is sent.
      while (isCurrent && needsStart() && connection.isOpen) startAt(await connection.position());
      if (!isCurrent) return;
      unsubscribe = connection.subscribe(payload as never, {
        next: ({ data, errors }) => {
          if (!isCurrent) return;
          if (Array.isArray(errors) && errors.length > 0) end(new ParleyError(errors as ResponseError[], data));
          else receive(data);
        },
        error: failure => {
          if (isCurrent) recover(failure);
        },
        complete: () => {
          if (isCurrent) end();
        },
      });
    };
    start().catch((error: unknown) => {
      if (isCurrent) end(error);
    });
  }

  const leave = connection.join({ connected: startAt, closed: () => end() });
  const abort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    signal?.throwIfAborted();
    open();
    for (;;) {
      if (waiting.length > MAX_WAITING && !isPaused && isResumable && !needsStart()) {
        isPaused = true;
        stop();
      }
      if (waiting.length > 0) {
        yield waiting.shift();
        continue;
      }
      if (outcome) {
        if (outcome.error !== undefined) throw outcome.error;
        return;
      }
      if (isPaused) {
        isPaused = false;
        open();
      }
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
    leave();
  }
}

/** The cursor of the event, if the document selects it. */
function cursorOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  for (const value of Object.values(data))
    if (typeof value === 'object' && value !== null && typeof value.cursor === 'string') return value.cursor;
  return undefined;
}
