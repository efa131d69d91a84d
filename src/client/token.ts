/** A token, and when it ends (milliseconds since the epoch). Without `expiresAtMs` it is used until it is rejected. */
export interface Token {
  readonly token: string;
  readonly expiresAtMs?: number | undefined;
}

/** A fixed token, or a function that gets one, for example a staff session from your own backend. */
export type TokenSource = string | (() => Promise<string | Token> | string | Token);

/** A session is renewed this long before it ends. */
const RENEWAL_MS = 60_000;

/** Keeps the token of a client. Concurrent callers share one renewal. */
export class TokenStore {
  readonly #source: TokenSource;
  #token: Token | undefined;
  #renewal: Promise<string> | undefined;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** Whether a rejected token can be replaced by another one. */
  get isRenewable(): boolean {
    return typeof this.#source === 'function';
  }

  /** @param rejected a token that the gateway did not accept, so that another one is needed */
  get(rejected?: string): Promise<string> {
    const token = this.#token;
    const isUsable =
      token !== undefined &&
      token.token !== rejected &&
      (token.expiresAtMs === undefined || token.expiresAtMs - RENEWAL_MS > Date.now());
    if (isUsable) return Promise.resolve(token.token);
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(): Promise<string> {
    const given = typeof this.#source === 'function' ? await this.#source() : this.#source;
    this.#token = typeof given === 'string' ? { token: given } : given;
    return this.#token.token;
  }
}
