import type { Dispatcher } from 'undici';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** How one HTTP exchange ended. Without an answer, `written` tells whether a byte of the request may have left. */
export type Exchange =
  | { readonly answer: Answer }
  | { readonly answer: undefined; readonly written: boolean; readonly reason: string };

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From now to the last byte of the answer, the wait for a connection included; milliseconds. */
  readonly timeoutMs: number;
}

/** Answers of the network are a few kilobytes; more than this is somebody else's page. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * One request over a pool; never rejects.
 *
 * `dispatch` is used because it alone tells exactly when undici begins to write (`onRequestStart`): everything
 * before that (DNS, connection, TLS, waiting for a free connection) cannot have reached the network, everything after may
 * have. Guessing it from error codes would put a connection reset while connecting and one after writing in one class.
 */
export function exchange(pool: Dispatcher, request: ExchangeRequest): Promise<Exchange> {
  return new Promise(resolve => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let status = 0;
    let headers: Answer['headers'] = {};
    let size = 0;
    const chunks: Buffer[] = [];

    const settle = (result: Exchange) => {
      settled = true;
      clearTimeout(deadline);
      resolve(result);
    };
    const fail = (reason: string) => settle({ answer: undefined, written: controller !== undefined, reason });
    const deadline = setTimeout(() => {
      const reason = `no answer within ${request.timeoutMs} ms`;
      fail(reason);
      controller?.abort(new Error(reason));
    }, request.timeoutMs);

    try {
      pool.dispatch(
        {
          method: request.method,
          path: request.path,
          headers: request.headers,
          ...(request.body !== undefined && { body: request.body }),
        },
        {
          onRequestStart(started) {
            // Given up while it waited for a connection: reported as not sent, so it must not be sent now. Throwing here
            // cancels the request and keeps the connection; `abort` would close it.
            if (settled) throw new Error('given up before it was sent');
            controller = started;
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            headers = responseHeaders;
          },
          onResponseData(current, chunk) {
            size += chunk.length;
            if (size > MAX_ANSWER_BYTES) current.abort(new Error('the answer is too large'));
            else chunks.push(chunk);
          },
          onResponseEnd() {
            if (!settled) settle({ answer: { status, headers, body: Buffer.concat(chunks).toString('utf8') } });
          },
          onResponseError(_controller, error) {
            if (!settled) fail(reasonOf(error));
          },
        },
      );
    } catch (error) {
      // A header that cannot be written (a token with a line break), a pool that was closed.
      if (!settled) fail(reasonOf(error instanceof Error ? error : new Error(String(error))));
    }
  });
}

/** A word for the log: the system's or undici's code where there is one. Carries neither address nor body. */
function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code ?? (error.message || error.name);
}
