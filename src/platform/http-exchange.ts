import type { Dispatcher } from 'undici';

export interface ExchangeRequest {
  /** Omitted for a pool, which has one origin. */
  readonly origin?: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout of the whole exchange, including name resolution and the wait for a connection. */
  readonly timeoutMs: number;
  /** Maximum number of response body bytes; a larger response is cut off and its connection closed. */
  readonly maxBytes: number;
  /** Whether a response is complete with its headers: its body may break off, or not end in time, and is then truncated. */
  readonly needsOnlyHeaders?: true;
  /** Called immediately before the first byte is written; if it returns `false`, nothing is written. */
  readonly mayCall?: (() => boolean) | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether the body was larger than `maxBytes`, or broke off. */
  readonly isTruncated: boolean;
}

/** The result of an exchange. Without a response, `isWritten` is whether a byte of the request may have been sent. */
export type Exchange =
  | { readonly answer: HttpResponse }
  | {
      readonly answer: undefined;
      readonly isWritten: boolean;
      /** Whether `mayCall` returned false. */
      readonly isWithheld: boolean;
      readonly isTimedOut: boolean;
      /** Without address and body. */
      readonly reason: string;
    };

/**
 * Sends one request and reads its response; never rejects.
 *
 * Uses `dispatch` because only it reports exactly when undici begins to write (`onRequestStart`): before that (DNS, connection, TLS,
 * waiting for a connection) nothing can have reached the receiver. Error codes do not distinguish a reset during connect from one
 * after writing.
 */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<Exchange> {
  return new Promise(resolve => {
    let controller: Dispatcher.DispatchController | undefined;
    let isSettled = false;
    let isWithheld = false;
    let status = 0;
    let headers: HttpResponse['headers'] = {};
    let size = 0;
    const chunks: Buffer[] = [];

    const settle = (result: Exchange): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(deadline);
      resolve(result);
    };
    const answer = (isTruncated: boolean): void =>
      settle({ answer: { status, headers, body: Buffer.concat(chunks), isTruncated } });
    const fail = (reason: string, isTimedOut = false): void => {
      // Interim responses (1xx) are reported too.
      if (request.needsOnlyHeaders && status >= 200) answer(true);
      else settle({ answer: undefined, isWritten: controller !== undefined, isWithheld, isTimedOut, reason });
    };
    const deadline = setTimeout(() => {
      const reason = `no complete response within ${request.timeoutMs} ms`;
      fail(reason, true);
      controller?.abort(new Error(reason));
    }, request.timeoutMs);

    try {
      dispatcher.dispatch(
        {
          ...(request.origin !== undefined && { origin: request.origin }),
          method: request.method,
          path: request.path,
          headers: request.headers,
          ...(request.body !== undefined && { body: request.body }),
        },
        {
          onRequestStart(started) {
            // Timed out while waiting for a connection: reported as not sent, so it must not be sent now. Throwing cancels the
            // request and keeps the connection; `abort` would close it.
            if (isSettled) throw new Error('timed out before it was sent');
            isWithheld = request.mayCall?.() === false;
            if (isWithheld) throw new Error('withheld: the caller lost the right to call while the request was queued');
            controller = started;
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            headers = responseHeaders;
          },
          onResponseData(current, chunk) {
            if (isSettled) return;
            chunks.push(chunk);
            size += chunk.length;
            if (size <= request.maxBytes) return;
            answer(true);
            current.abort(new Error('the response is too large'));
          },
          onResponseEnd: () => answer(false),
          onResponseError(_controller, error) {
            fail(reasonOf(error));
          },
        },
      );
    } catch (error) {
      // An invalid header (a token with a line break) or a closed dispatcher.
      fail(reasonOf(error instanceof Error ? error : new Error(String(error))));
    }
  });
}

/** The error code of the system or undici, for example ECONNREFUSED or CERT_HAS_EXPIRED; otherwise the message. */
function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code ?? (error.message || error.name);
}
