import { LRUCache } from 'lru-cache';
import type { Principal } from '../../context.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database.ts';
import type { Log } from '../../platform/log.ts';
import { tenantOfColumns } from '../tenants/tenant.ts';
import { createCrowd } from './crowd.ts';
import { type BearerRow, findBearer, findBearers } from './store.ts';
import { hashToken, isWellFormed } from './token.ts';

/** Knows tokens. A warm one costs no database round trip; a revoked one is refused everywhere within `MAX_AGE_MS`. */
export interface TokenVerifier {
  /** @returns undefined for a token that is malformed, unknown, revoked or expired */
  verify(token: string): Promise<Principal | undefined>;
  /** Whether this process has seen that the token is good. To look it up again is no stranger's work. */
  knows(token: string): boolean;
  /**
   * As `verify`, for callers who have asked in vain too often: all their look-ups of a second are one statement, however
   * many they are. @returns undefined also when too many of them wait
   */
  verifyInCrowd(token: string): Promise<Principal | undefined>;
  /** Calls `end` once when the token expires or is found revoked; looks every `WATCH_MS`. @returns a function that stops watching */
  watch(token: string, end: () => void): () => void;
  /** Forgets what this process knows, so that a revocation made here takes effect here at once. */
  forgetAll(): void;
}

/** A revocation must take effect within 5 s: a cached answer is never used beyond this. */
const MAX_AGE_MS = 4_500;
/** From this age on a token in use is looked up again beside the request, so that no request waits for it. */
const REFRESH_AGE_MS = 2_500;
const WATCH_MS = 2_000;
/** A watch believes no answer beyond this: with the time between two looks it stays well within the 5 s. */
const WATCH_AGE_MS = 1_500;
const MAX_TOKENS = 10_000;

interface Entry {
  readonly loadedAt: number;
  readonly principal: Principal | undefined;
}

export function createTokenVerifier(db: Database, clock: Clock, log: Log): TokenVerifier {
  const entries = new LRUCache<string, Entry>({ max: MAX_TOKENS });
  const loading = new Map<string, Promise<Entry>>();

  function load(token: string): Promise<Entry> {
    const present = loading.get(token);
    if (present) return present;
    // Dated before the statement: what it could not see yet must not be believed for longer than promised.
    const loadedAt = clock.now();
    const promise = findBearer(db.read, hashToken(token))
      .then(row => {
        const entry = { loadedAt, principal: row && toPrincipal(row) };
        // What was forgotten meanwhile stays forgotten: this look may have been from before a revocation.
        if (loading.get(token) === promise) entries.set(token, entry);
        return entry;
      })
      .finally(() => {
        if (loading.get(token) === promise) loading.delete(token);
      });
    loading.set(token, promise);
    return promise;
  }

  const usable = (entry: Entry): Principal | undefined => {
    const expiresAt = entry.principal?.expiresAtMs;
    return expiresAt !== undefined && expiresAt <= clock.now() ? undefined : entry.principal;
  };

  const verify = (token: string): Promise<Principal | undefined> => verifyWithin(token, MAX_AGE_MS);

  async function verifyWithin(token: string, maxAgeMs: number): Promise<Principal | undefined> {
    if (!isWellFormed(token)) return undefined;
    const known = entries.get(token);
    const age = known ? clock.now() - known.loadedAt : Number.POSITIVE_INFINITY;
    if (!known || age > maxAgeMs) return usable(await load(token));
    if (age > REFRESH_AGE_MS)
      load(token).catch(error => log.warn({ err: error }, 'a token could not be looked up again'));
    return usable(known);
  }

  const crowd = createCrowd(async (tokens: readonly string[]) => {
    const loadedAt = clock.now();
    const rows = await findBearers(db.read, tokens.map(hashToken));
    const byHash = new Map(rows.map(row => [row.hash.toString('hex'), toPrincipal(row)]));
    return tokens.map(token => {
      const principal = byHash.get(hashToken(token).toString('hex'));
      // Only the good ones are remembered: the others would push good ones out.
      if (principal) entries.set(token, { loadedAt, principal });
      return principal;
    });
  });

  return {
    verify,
    knows: token => entries.peek(token)?.principal !== undefined,
    verifyInCrowd: async token => (isWellFormed(token) ? crowd.find(token) : undefined),
    watch(token, end) {
      const timer = setInterval(() => {
        verifyWithin(token, WATCH_AGE_MS).then(
          principal => {
            if (principal) return;
            clearInterval(timer);
            end();
          },
          error => log.warn({ err: error }, 'a token under watch could not be looked up'),
        );
      }, WATCH_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
    forgetAll() {
      entries.clear();
      loading.clear();
    },
  };
}

const toPrincipal = (row: BearerRow): Principal => ({
  tenant: tenantOfColumns(row),
  tokenId: row.token_id,
  tokenName: row.token_name,
  scopes: new Set(row.scopes),
  callsPerMinute: Math.min(row.calls_per_minute, row.tenant_calls_per_minute),
  expiresAtMs: row.expires_at === null ? undefined : Date.parse(row.expires_at),
});
