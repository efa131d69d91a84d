import { pause } from './backoff.ts';
import { ParleyError, type ResponseError, TransportError } from './errors.ts';
import type { TokenStore } from './token.ts';

export interface HttpOptions {
  readonly url: string;
  readonly tokens: TokenStore;
  readonly fetch: typeof fetch;
  /** Attempts after the first one. */
  readonly retries: number;
}

export interface GraphQLBody {
  readonly query?: string;
  /** Of a trusted document: `sha256:…`, in place of `query`. */
  readonly documentId?: string;
  readonly operationName?: string | undefined;
  readonly variables?: unknown;
}

/** An HTTP response of any status, with its text read. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The header `Retry-After`. */
  readonly retryAfter: string | null;
}

/** Statuses after which a retry may succeed; not 500, whose cause is probably permanent. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_WAIT_MS = 30_000;

/**
 * Sends one operation and returns its data.
 * @param isRepeatable whether it may be sent again after an attempt whose outcome is unknown: queries, and mutations with an
 *   idempotency key
 * @throws ParleyError for errors in the response, TransportError without a GraphQL response
 */
export async function post(
  options: HttpOptions,
  body: GraphQLBody,
  isRepeatable: boolean,
  signal?: AbortSignal,
): Promise<unknown> {
  const text = JSON.stringify(body);
  const send = async (token: string): Promise<Answer> =>
    answerOf(
      await options.fetch(options.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json, application/json;q=0.9',
          authorization: `Bearer ${token}`,
        },
        body: text,
        ...(signal && { signal }),
      }),
    );
  return resultOf(await repeat(options, send, isRepeatable, signal));
}

export const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  text: await response.text(),
  retryAfter: response.headers.get('retry-after'),
});

/**
 * Sends a request until it is answered, with another token after a 401.
 * @param send makes one attempt; rejects if there is no answer
 * @param isRepeatable whether it may be sent again after an attempt whose outcome is unknown
 * @returns the last answer, of any status
 * @throws TransportError if the last attempt has none, the reason of the signal once it is aborted
 */
export async function repeat(
  { tokens, retries }: HttpOptions,
  send: (token: string) => Promise<Answer>,
  isRepeatable: boolean,
  signal?: AbortSignal,
): Promise<Answer> {
  let token = await tokens.get();
  let isRenewed = false;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const outcome = await send(token).catch((error: unknown) => {
      signal?.throwIfAborted();
      return new TransportError('The gateway cannot be reached.', undefined, error);
    });
    const isLast = attempt >= retries;
    if (outcome instanceof TransportError) {
      if (!isRepeatable || isLast) throw outcome;
    } else if (outcome.status === 401 && tokens.isRenewable && !isRenewed) {
      isRenewed = true;
      token = await tokens.get(token);
      continue;
    } else {
      // A rejected request was not executed, so that even a mutation without a key may be sent again after 429 and 503.
      const wasNotExecuted = outcome.status === 429 || outcome.status === 503;
      if (isLast || !RETRIED.has(outcome.status) || !(isRepeatable || wasNotExecuted)) return outcome;
    }
    await pause(waitMs(outcome instanceof TransportError ? null : outcome.retryAfter, attempt), signal);
  }
}

function resultOf({ status, text }: Answer): unknown {
  let body: { readonly data?: unknown; readonly errors?: readonly ResponseError[] } | undefined;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy answered, or the answer was cut off: the error below names the status.
  }
  if (body?.errors && body.errors.length > 0) throw new ParleyError(body.errors, body.data);
  if (!body || !('data' in body))
    throw new TransportError(`The answer is not a GraphQL response (HTTP ${status}).`, status);
  return body.data;
}

/** `Retry-After` of the response, otherwise an exponential backoff with jitter. */
function waitMs(retryAfter: string | null, attempt: number): number {
  const seconds = Number(retryAfter ?? Number.NaN);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : 250 * 2 ** attempt * (0.5 + Math.random());
  return Math.min(ms, MAX_WAIT_MS);
}
