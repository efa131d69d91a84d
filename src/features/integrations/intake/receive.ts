import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import { violationOf } from '../../../database/violations.ts';
import type { Quota, QuotaState } from '../../../platform/rate-limits.ts';
import type { Resources } from '../../../schema/context.ts';
import { createBatchedLookup } from '../../tenancy/tokens/batched-lookup.ts';
import { isKey } from '../integration.ts';
import { insertDelivery } from '../orders/deliveries.sql.ts';
import { INTEGRATIONS, laneOf } from '../orders/delivery.ts';
import { findByKeys, type IntegrationSecrets } from '../store.ts';
import { isAuthentic, isPing, nameDelivery } from './signature.ts';

/**
 * Signed kilobytes per minute and integration: 50,000 orders of 5 kB. Limits size rather than number, because disk space is what
 * must be bounded, and rejections are costly: WooCommerce disables a webhook after five failures, 429 included.
 */
const KILOBYTES_PER_MINUTE = 256 * 1024;
/** Requests without a valid signature per minute and IP address, for each integration and for unknown ones. */
const UNSIGNED_PER_MINUTE = 60;
/** Size of the cache of valid keys. */
const MAX_KNOWN = 10_000;

/** Response to a shop's webhook. */
export type Receipt = 'stored' | 'duplicate' | 'ping' | 'disabled' | 'unauthorized' | 'unknown';
type RateLimited = { readonly limited: readonly QuotaState[] };

export interface OrderReceiver {
  /**
   * Called before the body is read. Rejects unknown integrations, and addresses over the limit for unsigned requests.
   */
  authorize(key: string, address: string): Promise<IntegrationSecrets | 'unknown' | RateLimited>;
  /**
   * Verifies the signature over the raw bytes, then stores them; a worker processes them.
   *
   * A disabled integration, or one of a suspended tenant, answers with success and stores nothing: WooCommerce permanently disables
   * a webhook after five failures.
   */
  receive(
    integration: IntegrationSecrets,
    headers: IncomingHttpHeaders,
    body: Buffer,
    address: string,
  ): Promise<Receipt | RateLimited>;
}

type Needs = Pick<Resources, 'db' | 'secrets' | 'lanes' | 'metrics' | 'limits' | 'clock'>;

export function createOrderReceiver(resources: Needs): OrderReceiver {
  const { db, secrets, lanes, metrics, limits, clock } = resources;
  const known = new LRUCache<string, true>({ max: MAX_KNOWN });
  const batched = createBatchedLookup(keys => findByKeys(db.read, keys));

  const unknownQuota = (address: string): Quota[] => [
    { name: 'integration-address', key: address, limit: UNSIGNED_PER_MINUTE },
  ];
  const unsignedQuota = ({ tenant_id, id }: IntegrationSecrets, address: string): Quota[] => [
    { name: 'integration-unsigned', key: `${tenant_id}:${id}:${address}`, limit: UNSIGNED_PER_MINUTE },
  ];

  /** Charges quotas. @returns `otherwise` if none is exceeded */
  async function charge<T>(quotas: readonly Quota[], otherwise: T, points = 1): Promise<T | RateLimited> {
    const states = await limits.consume(quotas, points);
    return states.some(({ exceeded }) => exceeded) ? { limited: states } : otherwise;
  }

  /** Once the address has spent its quota of unknown keys, look-ups are batched into one statement per second; a valid key still passes. */
  async function find(key: string, address: string): Promise<IntegrationSecrets | undefined> {
    if (!known.has(key) && (await limits.findExhausted(unknownQuota(address)))) return batched.find(key);
    const [integration] = await findByKeys(db.read, [key]);
    return integration;
  }

  async function authorize(key: string, address: string): Promise<IntegrationSecrets | 'unknown' | RateLimited> {
    const integration = isKey(key) ? await find(key, address) : undefined;
    if (!integration) {
      known.delete(key);
      return charge(unknownQuota(address), 'unknown' as const);
    }
    known.set(key, true);
    const states = await limits.findExhausted(unsignedQuota(integration, address));
    return states ? { limited: states } : integration;
  }

  async function receive(
    integration: IntegrationSecrets,
    headers: IncomingHttpHeaders,
    body: Buffer,
    address: string,
  ): Promise<Receipt | RateLimited> {
    const { tenant_id: tenantId, id: integrationId, kind } = integration;
    if (isPing(kind, body)) return 'ping';
    const now = clock.now();
    const live = sealedSecrets(integration).map(sealed => secrets.open(sealed));
    if (!isAuthentic(kind, headers, body, live, now))
      return charge(unsignedQuota(integration, address), 'unauthorized' as const);
    if (!integration.is_enabled || !integration.is_active) return 'disabled';
    const quota = [{ name: 'integration', key: `${tenantId}:${integrationId}`, limit: KILOBYTES_PER_MINUTE }];
    const rateLimited = await charge(quota, undefined, Math.max(1, Math.ceil(body.length / 1_024)));
    if (rateLimited) return rateLimited;
    const named = nameDelivery(kind, headers, body);
    const isNew = await insertDelivery(db.write, tenantId, integrationId, named, body).catch(error => {
      // Deleted since it was authorized.
      if (violationOf(error)?.kind === 'foreign_key') return undefined;
      throw error;
    });
    if (isNew === undefined) return 'unknown';
    if (!isNew) return 'duplicate';
    lanes.wake(INTEGRATIONS, laneOf(tenantId, integrationId));
    return 'stored';
  }

  const count = <T extends Receipt | RateLimited>(answer: T): T => {
    metrics.integrationRequests.inc({ outcome: typeof answer === 'string' ? answer : 'limited' });
    return answer;
  };

  return {
    async authorize(key, address) {
      const answer = await authorize(key, address);
      if (answer === 'unknown' || 'limited' in answer) count(answer);
      return answer;
    },
    receive: async (...request) => count(await receive(...request)),
  };
}

const sealedSecrets = ({ secret_sealed: current, previous_secret_sealed: previous }: IntegrationSecrets): Buffer[] =>
  [current, previous].filter(secret => secret !== null);
