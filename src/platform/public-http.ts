import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { exchange } from './http-exchange.ts';
import { skipInterimResponses } from './interim-responses.ts';
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
  /** No response with complete headers. */
  | { readonly kind: 'failure'; readonly reason: string; readonly timedOut: boolean }
  /** The client was closed before the exchange ended: nothing is known about the receiver. */
  | { readonly kind: 'closed' }
  /** Not written, because `mayCall` returned false once the connection was ready. */
  | { readonly kind: 'withheld' };

/** HTTP requests to URLs configured by tenants. */
export interface PublicHttp {
  /** Sends a POST without following redirects. Never rejects. A response with complete headers is an answer, whatever becomes of its body. */
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
  const connect = createConnector(isAllowed, options.resolveName);
  // undici's own timeouts (connect 10 s, headers and body 300 s) are off: `timeoutMs` of the request covers them.
  const agent = new Agent({ connect, allowH2: false, connections: null, headersTimeout: 0, bodyTimeout: 0 });
  let isClosed = false;
  return {
    async post({ url, keepBytes, ...request }) {
      const target = { origin: url.origin, path: url.pathname + url.search };
      const result = await exchange(agent, {
        ...request,
        ...target,
        method: 'POST',
        maxBytes: MAX_RESPONSE_BYTES,
        needsOnlyHeaders: true,
      });
      if (result.answer) {
        const { status, headers, body } = result.answer;
        const retryAfter = headers['retry-after'];
        return {
          kind: 'answer',
          status,
          retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
          body: body.subarray(0, keepBytes),
        };
      }
      if (result.isWithheld) return { kind: 'withheld' };
      if (isClosed) return { kind: 'closed' };
      return { kind: 'failure', reason: result.reason, timedOut: result.isTimedOut };
    },
    allowsHost,
    async close() {
      isClosed = true;
      await agent.destroy();
    },
  };
}

function createConnector(isAllowed: (address: string) => boolean, resolveName: ResolveName): buildConnector.connector {
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
      } else if (socket) {
        skipInterimResponses(socket);
        callback(null, socket);
      } else callback(error ?? new Error('no connection'), null);
    });
  };
}
