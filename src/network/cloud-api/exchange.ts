import type { Dispatcher } from 'undici';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The result of an HTTP exchange. Without a response, `written` is whether a byte of the request may have been sent. */
export type Exchange =
  | { readonly answer: HttpResponse }
  | { readonly answer: undefined; readonly written: boolean; readonly withheld: boolean; readonly reason: string };

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout of the whole exchange, including the wait for a connection. */
  readonly timeoutMs: number;
  /** Called immediately before the first byte is written; if it returns `false`, nothing is written. */
  readonly mayCall?: (() => boolean) | undefined;
}

/** The network's responses are a few kilobytes; more is not from the network. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/**
 * One request over a pool; never rejects.
 *
 * Uses `dispatch` because only it reports exactly when undici begins to write (`onRequestStart`): before that (DNS, connection, TLS,
 * waiting for a connection) nothing can have reached the network. Error codes do not distinguish a reset during connect from one
 * after writing.
 */
export function exchange(pool: Dispatcher, request: ExchangeRequest): Promise<Exchange> {
  return new Promise(resolve => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let status = 0;
    let headers: HttpResponse['headers'] = {};
    let size = 0;
    const chunks: Buffer[] = [];

    const settle = (result: Exchange) => {
      settled = true;
      clearTimeout(deadline);
      resolve(result);
    };
    let withheld = false;
    const fail = (reason: string) => settle({ answer: undefined, written: controller !== undefined, withheld, reason });
    const deadline = setTimeout(() => {
      const reason = `no response within ${request.timeoutMs} ms`;
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
            // Timed out while waiting for a connection: reported as not sent, so it must not be sent now. Throwing cancels the
            // request and keeps the connection; `abort` would close it.
            if (settled) throw new Error('timed out before it was sent');
            withheld = request.mayCall?.() === false;
            if (withheld) throw new Error('withheld: the caller lost the right to call while the request was queued');
            controller = started;
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            status = statusCode;
            headers = responseHeaders;
          },
          onResponseData(current, chunk) {
            size += chunk.length;
            if (size > MAX_RESPONSE_BYTES) current.abort(new Error('the response is too large'));
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
      // An invalid header (a token with a line break) or a closed pool.
      if (!settled) fail(reasonOf(error instanceof Error ? error : new Error(String(error))));
    }
  });
}

/** A reason for the log: the code of the system or undici if there is one. Contains neither address nor body. */
function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code ?? (error.message || error.name);
}
