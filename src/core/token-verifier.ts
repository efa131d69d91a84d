import type { Principal } from './principal.ts';

/**
 * Verifies tokens. A cached token needs no database round trip; a revoked one is rejected in every process within `MAX_AGE_MS`.
 */
export interface TokenVerifier {
  /** @returns undefined for a token that is malformed, unknown, revoked or expired */
  verify(token: string): Promise<Principal | undefined>;
  /** Whether this process has verified the token before. */
  knows(token: string): boolean;
  /**
   * Like `verify`, for addresses that have exhausted their quota: their look-ups share one statement per second.
   * @returns undefined also if too many look-ups are waiting
   */
  verifyBatched(token: string): Promise<Principal | undefined>;
  /**
   * Calls `end` once when the token expires or is found revoked; checks every `WATCH_MS`. @returns a function that stops watching
   */
  watch(token: string, end: () => void): () => void;
  /**
   * Call after a token or session of a tenant was revoked: within a second, every process clears its cache of the tenant's tokens, and
   * ends watched streams whose token is no longer valid.
   */
  revoked(tenantId: number): void;
  /** Clears the cached result, so that a revocation made in this process takes effect at once. */
  forgetAll(): void;
  /** Stores the times of last use, which are otherwise stored once a minute. Never rejects. */
  flush(): Promise<void>;
}
