import { LRUCache } from 'lru-cache';
import type { Principal, StaffSession } from '../../../core/principal.ts';
import type { TokenVerifier } from '../../../core/token-verifier.ts';
import type { Database } from '../../../database/database.ts';
import { type Clock, elapsedMs, type Instant, instantOf } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import type { Signals } from '../../../platform/signals.ts';
import { findSessionBearers, type SessionBearerRow } from '../sessions/store.ts';
import { tenantOfColumns } from '../tenants/tenant.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { createLastUseWriter } from './last-use.ts';
import { type BearerRow, findBearers } from './store.ts';
import { hashToken, isSession, isWellFormed } from './token.ts';

/** A revocation must take effect within 5 s: a cached answer is never used beyond this. */
const MAX_AGE_MS = 4_500;
/** From this age on a token in use is looked up again beside the request, so that no request waits for it. */
const REFRESH_AGE_MS = 2_500;
const WATCH_MS = 2_000;
/** A watch believes no answer beyond this: with the time between two looks it stays well within the 5 s. */
const WATCH_AGE_MS = 1_500;
const MAX_TOKENS = 10_000;
/** Tokens under watch that share a statement after a revocation. */
const RECHECK_BATCH = 500;

interface Entry {
  readonly loadedAt: Instant;
  readonly principal: Principal | undefined;
  /** When the token expires, by the clock of this process: so much after it was loaded as the database says. */
  readonly endsAt: number;
}

/** Topic of the signals that tokens or sessions of a tenant were revoked: `tokens:<tenant id>`. */
const REVOKED = 'tokens';

/** @param signals absent for a verifier that stands alone */
export function createTokenVerifier(
  db: Database,
  signals: Pick<Signals, 'send' | 'on'> | undefined,
  clock: Clock,
  log: Log,
): TokenVerifier {
  const entries = new LRUCache<string, Entry>({ max: MAX_TOKENS });
  const loading = new Map<string, Promise<Entry>>();
  /** Open connections by token. */
  const watches = new Map<string, Set<() => void>>();
  const uses = createLastUseWriter(db, clock, log);

  function load(token: string): Promise<Entry> {
    const present = loading.get(token);
    if (present) return present;
    // Dated before the statement: a revocation that it could not see yet must not be missed for longer than promised.
    const loadedAt = instantOf(clock);
    const promise = findPrincipals(db, [token], loadedAt)
      .then(([entry = UNKNOWN(loadedAt)]) => {
        // An entry that was evicted meanwhile stays evicted: this read may precede a revocation.
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

  /** Sessions are not uses of the tokens that created them. */
  function used(principal: Principal | undefined): Principal | undefined {
    if (principal && !principal.session) uses.note({ tenantId: principal.tenant.id, tokenId: principal.tokenId });
    return principal;
  }

  const verify = async (token: string): Promise<Principal | undefined> => used(await verifyWithin(token, MAX_AGE_MS));

  async function verifyWithin(token: string, maxAgeMs: number): Promise<Principal | undefined> {
    if (!isWellFormed(token)) return undefined;
    const known = entries.get(token);
    const age = known ? elapsedMs(clock, known.loadedAt) : Number.POSITIVE_INFINITY;
    if (!known || age > maxAgeMs) return usable(await load(token));
    if (age > REFRESH_AGE_MS)
      load(token).catch(error => log.warn({ err: error }, 'a token could not be looked up again'));
    return usable(known);
  }

  const batched = createBatchedLookup(async (tokens: readonly string[]) => {
    const found = await findPrincipals(db, tokens, instantOf(clock));
    return tokens.map((token, index) => {
      const entry = found[index];
      // Only valid tokens are cached: invalid ones would evict them.
      if (entry) entries.set(token, entry);
      return entry?.principal;
    });
  });

  /** Forgets a tenant's tokens, and ends those of its watches whose token has ended. */
  async function recheck(tenantId: number): Promise<void> {
    const isOfTenant = (token: string): boolean => (entries.peek(token)?.principal?.tenant.id ?? tenantId) === tenantId;
    const watched = [...watches.keys()].filter(isOfTenant);
    for (const token of [...entries.keys()].filter(isOfTenant)) entries.delete(token);
    // A look-up that began before the revocation must not be believed.
    loading.clear();
    for (let start = 0; start < watched.length; start += RECHECK_BATCH) {
      const tokens = watched.slice(start, start + RECHECK_BATCH);
      const found = await findPrincipals(db, tokens, instantOf(clock));
      for (const [index, token] of tokens.entries()) {
        const entry = found[index];
        if (entry) entries.set(token, entry);
        else for (const end of watches.get(token) ?? []) end();
      }
    }
  }

  signals?.on(REVOKED, topic => {
    recheck(Number(topic.slice(REVOKED.length + 1))).catch(error =>
      log.warn(
        { err: error },
        'tokens under watch could not be looked up after a revocation; they are at the next round',
      ),
    );
  });

  return {
    verify,
    knows: token => entries.peek(token)?.principal !== undefined,
    verifyBatched: async token => (isWellFormed(token) ? used(await batched.find(token)) : undefined),
    watch(token, end) {
      const watchers = watches.get(token) ?? new Set();
      watches.set(token, watchers);
      const timer = setInterval(() => {
        verifyWithin(token, WATCH_AGE_MS).then(
          principal => principal ?? finish(),
          error => log.warn({ err: error }, 'a token under watch could not be looked up'),
        );
      }, WATCH_MS);
      timer.unref();
      function stop(): void {
        clearInterval(timer);
        watchers.delete(finish);
        if (watchers.size === 0 && watches.get(token) === watchers) watches.delete(token);
      }
      function finish(): void {
        stop();
        end();
      }
      watchers.add(finish);
      return stop;
    },
    revoked(tenantId) {
      if (signals) signals.send(`${REVOKED}:${tenantId}`, 'soon');
      else entries.clear();
    },
    forgetAll() {
      entries.clear();
      loading.clear();
    },
    flush: () => uses.flush(),
  };
}

const UNKNOWN = (loadedAt: Instant): Entry => ({ loadedAt, principal: undefined, endsAt: Number.POSITIVE_INFINITY });

/** Looks up access tokens and staff sessions. @returns an entry or undefined for each, in their order */
async function findPrincipals(
  { read }: Pick<Database, 'read'>,
  tokens: readonly string[],
  loadedAt: Instant,
): Promise<(Entry | undefined)[]> {
  const sessions = tokens.filter(isSession);
  const plain = sessions.length === 0 ? tokens : tokens.filter(token => !isSession(token));
  const rows = await Promise.all([
    plain.length > 0 ? findBearers(read, plain.map(hashToken)) : [],
    sessions.length > 0 ? findSessionBearers(read, sessions.map(hashToken)) : [],
  ]);
  const byHash = new Map(rows.flat().map(row => [row.hash.toString('hex'), entryOf(row, loadedAt)]));
  return tokens.map(token => byHash.get(hashToken(token).toString('hex')));
}

const entryOf = (row: BearerRow | SessionBearerRow, loadedAt: Instant): Entry => ({
  loadedAt,
  principal: toPrincipal(row),
  endsAt: loadedAt.wallMs + (row.expires_in_ms ?? Number.POSITIVE_INFINITY),
});

const toPrincipal = (row: BearerRow | SessionBearerRow): Principal => ({
  ...('session_id' in row && { session: sessionOf(row) }),
  tenant: tenantOfColumns(row),
  tokenId: row.token_id,
  tokenName: row.token_name,
  scopes: new Set(row.scopes),
  callsPerMinute: Math.min(row.calls_per_minute, row.tenant_calls_per_minute),
  documentsOnly: row.documents_only,
  expiresAtMs: row.expires_at === null ? undefined : Date.parse(row.expires_at),
});

const sessionOf = (row: SessionBearerRow): StaffSession => ({
  id: row.session_id,
  staffId: row.staff_id,
  staffName: row.staff_name,
  origins: row.origins,
});
