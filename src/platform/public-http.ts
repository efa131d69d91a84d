import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type AddressRange, isPublicAddress } from './public-address.ts';
import { isLocalhost, LOOPBACK, type ResolveName } from './resolve-name.ts';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Timeout of the whole exchange, including name resolution and connection. */
  readonly timeoutMs: number;
  /** Maximum number of response body bytes that are returned. */
  readonly keepBytes: number;
  /** Called immediately before the first byte is written; if it returns `false`, nothing is written. */
  readonly mayCall?: () => boolean;
}

/** How one request ended. */
export type PostOutcome =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter: string | undefined; readonly body: Buffer }
  /** No complete response. */
  | { readonly kind: 'failure'; readonly reason: string; readonly timedOut: boolean }
  /** The client was closed before the exchange ended: nothing is known about the receiver. */
  | { readonly kind: 'closed' }
  /** Not written, because `mayCall` returned false once the connection was ready. */
  | { readonly kind: 'withheld' };

/** HTTP requests to URLs configured by tenants. */
export interface PublicHttp {
  /** Sends a POST without following redirects. Never rejects. */
  post(request: Post): Promise<PostOutcome>;
  /** Whether a URL may have this host: any name except localhost. Its addresses are checked at each connection. */
  allowsHost(hostname: string): boolean;
  /** Aborts all exchanges. */
  close(): Promise<void>;
}

/** Maximum number of response bytes read; beyond it the connection is closed. */
const MAX_RESPONSE_BYTES = 64 * 1024;

const NOT_PUBLIC = 'the address is not public';
const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * A client that connects only to public addresses and ranges that the deployment allows, against server-side request forgery. The
 * name is resolved once per connection and only checked addresses are connected to, so that DNS rebinding has no effect.
 */
export function createPublicHttp(options: {
  readonly allowed: readonly AddressRange[];
  readonly resolveName: ResolveName;
}): PublicHttp {
  const isAllowed = (address: string): boolean => isPublicAddress(address, options.allowed);
  const allowsHost = (hostname: string): boolean => {
    if (isLocalhost(hostname)) return LOOPBACK.some(isAllowed);
    return isIP(bare(hostname)) === 0 || isAllowed(bare(hostname));
  };
  const connect = guarded(isAllowed, options.resolveName);
  // Our timeout applies: undici's (connect 10 s, headers and body 300 s) are longer.
  const agent = new Agent({ connect, allowH2: false, connections: null, headersTimeout: 0, bodyTimeout: 0 });
  let closed = false;
  return {
    post: request => exchange(agent, request, () => closed),
    allowsHost,
    async close() {
      closed = true;
      await agent.destroy();
    },
  };
}

function guarded(isAllowed: (address: string) => boolean, resolveName: ResolveName): buildConnector.connector {
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    resolveName(hostname).then(
      found => {
        const addresses = found.filter(isAllowed).map(address => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (!first) callback(new Error(found.length > 0 ? NOT_PUBLIC : 'the host name does not resolve'), []);
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      error => callback(error, []),
    );
  };
  const connector = buildConnector({ lookup, allowH2: false, timeout: 60_000 } as buildConnector.BuildOptions);
  return (options, callback) => {
    // A literal address is not resolved by `lookup`.
    if (isIP(bare(options.hostname)) !== 0 && !isAllowed(bare(options.hostname))) {
      queueMicrotask(() => callback(new Error(NOT_PUBLIC), null));
      return;
    }
    connector(options, (error, socket) => {
      // A safeguard: the connected address must be a checked one. Nothing has been written yet.
      if (socket && !isAllowed(socket.remoteAddress ?? '')) {
        socket.destroy();
        callback(new Error(NOT_PUBLIC), null);
      } else if (socket) callback(null, socket);
      else callback(error ?? new Error('no connection'), null);
    });
  };
}

function exchange(agent: Dispatcher, request: Post, isClosed: () => boolean): Promise<PostOutcome> {
  return new Promise(resolve => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    let status = 0;
    let retryAfter: string | undefined;
    let size = 0;
    const chunks: Buffer[] = [];

    const settle = (outcome: PostOutcome): void => {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      resolve(outcome);
    };
    const fail = (reason: string, timedOut = false): void =>
      settle(isClosed() ? { kind: 'closed' } : { kind: 'failure', reason, timedOut });
    const answer = (): void =>
      settle({ kind: 'answer', status, retryAfter, body: Buffer.concat(chunks).subarray(0, request.keepBytes) });
    const deadline = setTimeout(() => {
      fail(`no complete response within ${request.timeoutMs} ms`, true);
      controller?.abort(new Error('timed out'));
    }, request.timeoutMs);

    try {
      agent.dispatch(
        {
          origin: request.url.origin,
          path: request.url.pathname + request.url.search,
          method: 'POST',
          headers: request.headers,
          body: request.body,
        },
        {
          onRequestStart(started) {
            // Timed out while waiting for a connection. Throwing cancels only this request.
            if (settled) throw new Error('timed out before it was sent');
            if (request.mayCall?.() === false) {
              settle({ kind: 'withheld' });
              throw new Error('withheld: the caller lost the right to call while the request was queued');
            }
            controller = started;
          },
          onResponseStart(_controller, statusCode, headers) {
            status = statusCode;
            const value = headers['retry-after'];
            retryAfter = typeof value === 'string' ? value : undefined;
          },
          onResponseData(current, chunk) {
            if (size < request.keepBytes) chunks.push(chunk);
            size += chunk.length;
            if (size <= MAX_RESPONSE_BYTES) return;
            answer();
            current.abort(new Error('the response is too large'));
          },
          onResponseEnd: answer,
          onResponseError(_controller, error) {
            fail(reasonOf(error));
          },
        },
      );
    } catch (error) {
      fail(reasonOf(error instanceof Error ? error : new Error(String(error))));
    }
  });
}

/** The error code of the system or undici, for example ECONNREFUSED or CERT_HAS_EXPIRED; otherwise the message. */
function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code ?? (error.message || error.name);
}
