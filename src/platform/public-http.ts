import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type AddressRange, isPublicAddress } from './public-address.ts';
import { isLocalhost, LOOPBACK, type ResolveName } from './resolve-name.ts';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From now to the last byte of the answer, name look-up and connection included. */
  readonly timeoutMs: number;
  /** So much of the answer's body is kept. */
  readonly keepBytes: number;
}

/** How one request ended. */
export type PostOutcome =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter: string | undefined; readonly body: Buffer }
  /** No answer, or not all of it. */
  | { readonly kind: 'failure'; readonly reason: string; readonly timedOut: boolean }
  /** We went away before it had ended: nothing is known of the other side. */
  | { readonly kind: 'closed' };

/** HTTP to addresses that strangers have named. */
export interface PublicHttp {
  /** Posts and never follows a redirect. Never rejects. */
  post(request: Post): Promise<PostOutcome>;
  /** Whether a host of a URL may be asked at all. A name may, but for this machine's; which of its addresses, is decided at each connection. */
  allowsHost(hostname: string): boolean;
  /** Cuts what is under way. */
  close(): Promise<void>;
}

/** Of an answer no more is read than this; the rest is not worth a connection. */
const MAX_ANSWER_BYTES = 64 * 1024;

const REFUSED = 'the address is not public';
const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * A client that connects to public addresses alone (and to ranges that the deployment allows), so that nobody can have it
 * ask what only our own network may (server-side request forgery). The address that is connected to is the one that was
 * checked: the name is looked up once for each connection, and what does not pass is not handed on. A name that answers
 * differently the next time (DNS rebinding) gains nothing.
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
  // The request's own deadline rules: undici's time-outs (connect 10 s, headers and body 300 s) are never the shorter ones.
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
        if (!first) callback(new Error(found.length > 0 ? REFUSED : 'the name has no address'), []);
        else if (all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      error => callback(error, []),
    );
  };
  const connector = buildConnector({ lookup, allowH2: false, timeout: 60_000 } as buildConnector.BuildOptions);
  return (options, callback) => {
    // A literal address is not looked up.
    if (isIP(bare(options.hostname)) !== 0 && !isAllowed(bare(options.hostname))) {
      queueMicrotask(() => callback(new Error(REFUSED), null));
      return;
    }
    connector(options, (error, socket) => {
      // What was checked is what is connected to. Should that ever not be so, nothing has been written yet.
      if (socket && !isAllowed(socket.remoteAddress ?? '')) {
        socket.destroy();
        callback(new Error(REFUSED), null);
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
      fail(`no complete answer within ${request.timeoutMs} ms`, true);
      controller?.abort(new Error('given up'));
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
            // Given up while it waited for a connection. Throwing cancels the request alone.
            if (settled) throw new Error('given up before it was sent');
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
            if (size <= MAX_ANSWER_BYTES) return;
            answer();
            current.abort(new Error('the answer is too large'));
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

/** The system's or undici's code where there is one, such as ECONNREFUSED or CERT_HAS_EXPIRED. */
function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return code ?? (error.message || error.name);
}
