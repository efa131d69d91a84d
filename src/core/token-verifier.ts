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
   * Like `verify`, for addresses that have spent their quota: their look-ups share one statement per second.
   * @returns undefined also if too many look-ups are waiting
   */
  verifyBatched(token: string): Promise<Principal | undefined>;
  /**
   * Calls `end` once when the token expires or is found revoked; checks every `WATCH_MS`. @returns a function that stops watching
   */
  watch(token: string, end: () => void): () => void;
  /**
   * Call after a token or session of a tenant was revoked: every process forgets what it has cached of the tenant, and ends what is
   * under watch, within a second.
   */
  revoked(tenantId: number): void;
  /** Clears the cached result, so that a revocation made in this process takes effect at once. */
  forgetAll(): void;
  /** Writes which tokens were used; otherwise that is written once a minute. Never rejects. */
  flush(): Promise<void>;
}
