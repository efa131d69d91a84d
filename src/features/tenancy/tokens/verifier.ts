import { LRUCache } from 'lru-cache';
import type { Principal } from '../../../core/principal.ts';
import type { TokenVerifier } from '../../../core/token-verifier.ts';
import type { Database } from '../../../database/database.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { tenantOfColumns } from '../tenants/tenant.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { type BearerRow, findBearer, findBearers } from './store.ts';
import { hashToken, isWellFormed } from './token.ts';

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
  /** When the token expires, by the clock of this process: so much after it was loaded as the database says. */
  readonly endsAt: number;
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
        const entry = entryOf(row, loadedAt);
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

  const usable = ({ principal, endsAt }: Entry): Principal | undefined =>
    endsAt <= clock.now() ? undefined : principal;

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

  const batched = createBatchedLookup(async (tokens: readonly string[]) => {
    const loadedAt = clock.now();
    const rows = await findBearers(db.read, tokens.map(hashToken));
    const byHash = new Map(rows.map(row => [row.hash.toString('hex'), entryOf(row, loadedAt)]));
    return tokens.map(token => {
      const entry = byHash.get(hashToken(token).toString('hex'));
      // Only the good ones are remembered: the others would push good ones out.
      if (entry) entries.set(token, entry);
      return entry?.principal;
    });
  });

  return {
    verify,
    knows: token => entries.peek(token)?.principal !== undefined,
    verifyBatched: async token => (isWellFormed(token) ? batched.find(token) : undefined),
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

const entryOf = (row: BearerRow | undefined, loadedAt: number): Entry => ({
  loadedAt,
  principal: row && toPrincipal(row),
  endsAt: loadedAt + (row?.expires_in_ms ?? Number.POSITIVE_INFINITY),
});

const toPrincipal = (row: BearerRow): Principal => ({
  tenant: tenantOfColumns(row),
  tokenId: row.token_id,
  tokenName: row.token_name,
  scopes: new Set(row.scopes),
  callsPerMinute: Math.min(row.calls_per_minute, row.tenant_calls_per_minute),
  expiresAtMs: row.expires_at === null ? undefined : Date.parse(row.expires_at),
});
