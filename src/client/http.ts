import { ParleyError, type ResponseError, TransportError } from './errors.ts';
import type { TokenStore } from './token.ts';

export interface HttpOptions {
  readonly url: string;
  readonly tokens: TokenStore;
  readonly fetch: typeof fetch;
  /** Attempts after the first one. */
  readonly retries: number;
  readonly sleep: (ms: number) => Promise<void>;
}

export interface GraphQLBody {
  readonly query?: string;
  /** Of a trusted document: `sha256:…`, in place of `query`. */
  readonly documentId?: string;
  readonly operationName?: string | undefined;
  readonly variables?: unknown;
}

interface Attempt {
  readonly response: Response;
  readonly body: { readonly data?: unknown; readonly errors?: readonly ResponseError[] } | undefined;
}

/** Statuses after which the same request may succeed. 500 is not one of them: its cause is a fault that stays. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_WAIT_MS = 30_000;

/**
 * Sends one operation and returns its data.
 * @param isRepeatable whether it may be sent again after an attempt whose outcome is unknown: queries, and mutations with an
 *   idempotency key
 * @throws ParleyError for errors of the response, TransportError if there is none
 */
export async function post(
  options: HttpOptions,
  body: GraphQLBody,
  isRepeatable: boolean,
  signal?: AbortSignal,
): Promise<unknown> {
  const text = JSON.stringify(body);
  let token = await options.tokens.get();
  let isRenewed = false;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await send(options, text, token, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      return new TransportError('The gateway cannot be reached.', undefined, error);
    });
    const retryable = outcome instanceof TransportError ? isRepeatable : RETRIED.has(outcome.response.status);
    if (!(outcome instanceof TransportError)) {
      const { response, body: answer } = outcome;
      if (response.status === 401 && options.tokens.isRenewable && !isRenewed) {
        isRenewed = true;
        token = await options.tokens.get(token);
        continue;
      }
      // A rejected request was not executed, so that even a mutation without a key may be sent again after 429 and 503.
      if (
        !retryable ||
        attempt >= options.retries ||
        (!isRepeatable && response.status !== 429 && response.status !== 503)
      )
        return resultOf(response, answer);
    } else if (!retryable || attempt >= options.retries) throw outcome;
    await options.sleep(waitMs(outcome instanceof TransportError ? undefined : outcome.response, attempt));
    signal?.throwIfAborted();
  }
}

async function send(
  options: HttpOptions,
  body: string,
  token: string,
  signal: AbortSignal | undefined,
): Promise<Attempt> {
  const response = await options.fetch(options.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      authorization: `Bearer ${token}`,
    },
    body,
    ...(signal && { signal }),
  });
  const text = await response.text();
  try {
    return { response, body: JSON.parse(text) };
  } catch {
    return { response, body: undefined };
  }
}

function resultOf(response: Response, body: Attempt['body']): unknown {
  if (body?.errors && body.errors.length > 0) throw new ParleyError(body.errors, body.data);
  if (!body || !('data' in body))
    throw new TransportError(`The answer is not a GraphQL response (HTTP ${response.status}).`, response.status);
  return body.data;
}

/** As the server asks, else exponential with jitter. */
function waitMs(response: Response | undefined, attempt: number): number {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : 250 * 2 ** attempt * (0.5 + Math.random());
  return Math.min(ms, MAX_WAIT_MS);
}
