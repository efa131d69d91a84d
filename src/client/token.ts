import { ParleyError } from './errors.ts';

/** A token and its expiry (milliseconds since the epoch). Without `expiresAtMs` it is used until it is rejected. */
export interface Token {
  readonly token: string;
  readonly expiresAtMs?: number | undefined;
}

type Given = string | Token | null;

/** A fixed token, or a function that gets one, for example a staff session from your own backend; null: the session is over. */
export type TokenSource = string | (() => Promise<Given> | Given);

/**
 * Time before its expiry at which a token is replaced: a minute, or a quarter of a lifetime below four minutes, because otherwise a
 * session of one minute would be replaced before each call.
 */
export const renewalLeadMs = (lifetimeMs: number): number => Math.min(60_000, lifetimeMs / 4);

/** Codes after which a retry may succeed. Any other error of the gateway ends the session. */
const PASSING: ReadonlySet<unknown> = new Set(['RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR']);

/** Whether an error is a permanent refusal by the gateway, unlike a lost connection. */
export const isRefusal = (error: unknown): error is ParleyError =>
  error instanceof ParleyError && !PASSING.has(error.code);

interface Kept {
  readonly token: string;
  readonly renewAtMs: number;
  readonly endsAtMs: number;
}

/** Keeps the token of a client. Concurrent callers share one renewal. */
export class TokenStore {
  readonly #source: TokenSource;
  #kept: Kept | undefined;
  #renewal: Promise<string> | undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** Whether a rejected token can be replaced by another one. */
  get isRenewable(): boolean {
    return typeof this.#source === 'function';
  }

  /**
   * @param rejected a token that the gateway did not accept, so that another one is needed
   * @throws ParleyError with the code UNAUTHORIZED if the session is over; any error of the source
   */
  get(rejected?: string): Promise<string> {
    const kept = this.#kept;
    if (kept && kept.token !== rejected && kept.renewAtMs > Date.now()) return Promise.resolve(kept.token);
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal.catch((error: unknown) => {
      // The current token is still valid: it is replaced early so that a failed renewal can be retried.
      if (kept && kept.token !== rejected && kept.endsAtMs > Date.now() && !isRefusal(error)) return kept.token;
      throw error;
    });
  }

  async #renew(): Promise<string> {
    const given = typeof this.#source === 'function' ? await this.#source() : this.#source;
    if (given === null) throw unauthorized('The session has ended: `token` returned null. Sign in again.');
    this.#kept = keep(typeof given === 'string' ? { token: given } : given);
    return this.#kept.token;
  }
}

function keep({ token, expiresAtMs = Number.POSITIVE_INFINITY }: Token): Kept {
  const lifetimeMs = expiresAtMs - Date.now();
  // A new token that seems expired means that this computer's clock is wrong: use it until the gateway rejects it.
  if (lifetimeMs <= 0) return { token, renewAtMs: Number.POSITIVE_INFINITY, endsAtMs: Number.POSITIVE_INFINITY };
  return { token, renewAtMs: expiresAtMs - renewalLeadMs(lifetimeMs), endsAtMs: expiresAtMs };
}

export const unauthorized = (message: string): ParleyError =>
  new ParleyError([{ message, extensions: { code: 'UNAUTHORIZED' } }]);
