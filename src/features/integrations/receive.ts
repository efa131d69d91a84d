import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Resources } from '../../context.ts';
import { newId } from '../../platform/ids.ts';
import type { Quota, QuotaState } from '../../platform/rate-limits.ts';
import { violationOf } from '../../platform/violations.ts';
import { createCrowd } from '../tokens/crowd.ts';
import { insertDelivery } from './deliveries-store.ts';
import { isKey } from './integration.ts';
import { INTEGRATIONS, laneOf } from './lane.ts';
import { isAuthentic, isPing, nameDelivery } from './signature.ts';
import { type Doorkeeper, findByKeys } from './store.ts';

/**
 * Kilobytes of one integration in a minute, of what is signed: 50,000 orders of the usual 5 kB. By their weight and not by their number,
 * because a refusal costs a shop its webhook (WooCommerce counts a 429 as one of five), while what has to be bounded is the disk.
 */
const KILOBYTES_PER_MINUTE = 256 * 1024;
/** Requests from one address that no secret signed, to one integration; and to addresses that there are none of. */
const UNSIGNED_PER_MINUTE = 60;
/** Keys of which this process remembers that they are somebody's. */
const MAX_KNOWN = 10_000;

/** What is answered to a shop. */
export type Receipt = 'stored' | 'duplicate' | 'ping' | 'disabled' | 'unauthorized' | 'unknown';
type Limited = { readonly limited: readonly QuotaState[] };

export interface OrderReceiver {
  /**
   * Whether a request may go on, asked before its body is read: the address has to be an integration's, and whoever has
   * knocked in vain too often waits.
   */
  greet(key: string, address: string): Promise<Doorkeeper | 'unknown' | Limited>;
  /**
   * Takes in one payload. The signature is checked on the raw bytes before anything is read of them or stored; then the
   * bytes are stored once, and the work is left to the worker.
   *
   * An integration that is switched off answers as if all were well and stores nothing: WooCommerce gives a webhook up for
   * good after five refusals. The same holds for one of a suspended tenant.
   */
  receive(keeper: Doorkeeper, headers: IncomingHttpHeaders, body: Buffer, address: string): Promise<Receipt | Limited>;
}

type Needs = Pick<Resources, 'db' | 'secrets' | 'jobs' | 'metrics' | 'limits' | 'clock'>;

export function createOrderReceiver(resources: Needs): OrderReceiver {
  const { db, secrets, jobs, metrics, limits, clock } = resources;
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
  const crowd = createCrowd(keys => findByKeys(db.read, keys));

  const strangers = (address: string): Quota[] => [
    { name: 'integration-address', key: address, limit: UNSIGNED_PER_MINUTE },
  ];
  const unsigned = ({ tenant_id, id }: Doorkeeper, address: string): Quota[] => [
    { name: 'integration-unsigned', key: `${tenant_id}:${id}:${address}`, limit: UNSIGNED_PER_MINUTE },
  ];

  /** Charges; what is over is answered with that instead. */
  async function charged<T>(quotas: readonly Quota[], otherwise: T, points = 1): Promise<T | Limited> {
    const states = await limits.consume(quotas, points);
    return states.some(({ exceeded }) => exceeded) ? { limited: states } : otherwise;
  }

  /** A flood of invented keys shares its look-ups, and so does a shop that is new from behind the same address: it is let in, a second later. */
  async function find(key: string, address: string): Promise<Doorkeeper | undefined> {
    if (!known.has(key) && (await limits.spent(strangers(address)))) return crowd.find(key);
    const [keeper] = await findByKeys(db.read, [key]);
    return keeper;
  }

  async function greet(key: string, address: string): Promise<Doorkeeper | 'unknown' | Limited> {
    const keeper = isKey(key) ? await find(key, address) : undefined;
    if (!keeper) {
      known.delete(key);
      return charged(strangers(address), 'unknown' as const);
    }
    known.set(key, true);
    const states = await limits.spent(unsigned(keeper, address));
    return states ? { limited: states } : keeper;
  }

  async function receive(
    keeper: Doorkeeper,
    headers: IncomingHttpHeaders,
    body: Buffer,
    address: string,
  ): Promise<Receipt | Limited> {
    const { tenant_id: tenantId, id: integrationId, kind } = keeper;
    if (isPing(kind, body)) return 'ping';
    const now = clock.now();
    const live = liveSecrets(keeper, now).map(sealed => secrets.open(sealed));
    if (!isAuthentic(kind, headers, body, live, now))
      return charged(unsigned(keeper, address), 'unauthorized' as const);
    if (!keeper.is_enabled || !keeper.is_active) return 'disabled';
    const own = [{ name: 'integration', key: `${tenantId}:${integrationId}`, limit: KILOBYTES_PER_MINUTE }];
    const admitted = await charged(own, undefined, Math.max(1, Math.ceil(body.length / 1_024)));
    if (admitted) return admitted;
    const named = nameDelivery(kind, headers, body);
    const nowIso = new Date(now).toISOString();
    const isNew = await insertDelivery(db.write, tenantId, integrationId, newId(), named, body, nowIso).catch(error => {
      // Taken away since it was greeted.
      if (violationOf(error)?.kind === 'foreign_key') return undefined;
      throw error;
    });
    if (isNew === undefined) return 'unknown';
    if (!isNew) return 'duplicate';
    jobs.wake(INTEGRATIONS, laneOf(tenantId, integrationId));
    return 'stored';
  }

  const count = <T extends Receipt | Limited>(answer: T): T => {
    metrics.integrationRequests.inc({ outcome: typeof answer === 'string' ? answer : 'limited' });
    return answer;
  };

  return {
    async greet(key, address) {
      const answer = await greet(key, address);
      if (answer === 'unknown' || 'limited' in answer) count(answer);
      return answer;
    },
    receive: async (...request) => count(await receive(...request)),
  };
}

function liveSecrets(keeper: Doorkeeper, nowMs: number): Buffer[] {
  const { secret_sealed: current, previous_secret_sealed: previous, previous_secret_until: until } = keeper;
  const isPreviousGood = until !== null && Date.parse(until) > nowMs;
  return [...(current ? [current] : []), ...(previous && isPreviousGood ? [previous] : [])];
}
