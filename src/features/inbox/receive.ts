import { LRUCache } from 'lru-cache';
import type { Resources } from '../../context.ts';
import { verifySignature } from '../../network/cloud-api/signature.ts';
import { phoneNumberIds } from '../../network/cloud-api/webhook.ts';
import { SECOND } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto.ts';
import { newId } from '../../platform/ids.ts';
import { webhookOwners } from '../channels/webhook-owners.ts';
import { INBOX } from './lane.ts';
import { insertWebhook } from './store.ts';

/** What is answered to the network. */
export type Receipt = 'stored' | 'forbidden' | 'malformed';

/** Owners and their secrets, kept shortly: the network sends in bursts, and each would ask the same. */
type Owners = Awaited<ReturnType<typeof webhookOwners>>;
const OWNERS_TTL_MS = 5 * SECOND;

export interface WebhookReceiver {
  /**
   * Takes in one webhook of the network: the signature is checked on the raw bytes, the bytes are stored once, and the
   * work is left to the worker. A tenant gets it only when its own channel's secret signed it: whoever has the secret of
   * one channel cannot speak for another.
   */
  receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt>;
}

export function createWebhookReceiver(
  resources: Pick<Resources, 'db' | 'secrets' | 'jobs' | 'metrics'>,
): WebhookReceiver {
  const cache = new LRUCache<string, Owners>({ max: 1_000, ttl: OWNERS_TTL_MS });

  async function ownersOf(body: unknown): Promise<Owners> {
    const named = phoneNumberIds(body);
    const key = JSON.stringify([[...named.phoneNumberIds].sort(), [...named.wabaIds].sort()]);
    const known = cache.get(key);
    if (known) return known;
    const owners = await webhookOwners(resources, named.phoneNumberIds, named.wabaIds);
    if (owners.length > 0) cache.set(key, owners);
    return owners;
  }

  async function receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt> {
    let body: unknown;
    try {
      body = JSON.parse(rawBody.toString('utf8'));
    } catch {
      return 'malformed';
    }
    const owners = await ownersOf(body);
    const secrets = new Map<string, boolean>();
    const signed = owners.filter(owner => {
      const known = secrets.get(owner.appSecret) ?? verifySignature(rawBody, signature, [owner.appSecret]);
      secrets.set(owner.appSecret, known);
      return known;
    });
    if (signed.length === 0) return 'forbidden';
    const tenantIds = [...new Set(signed.map(owner => owner.tenantId))];
    const fresh = await insertWebhook(resources.db.write, tenantIds, sha256(rawBody), tenantIds.map(newId), rawBody);
    for (const tenantId of fresh) resources.jobs.wake(INBOX, String(tenantId));
    return 'stored';
  }

  return {
    async receive(rawBody, signature) {
      const outcome = await receive(rawBody, signature);
      resources.metrics.webhooksReceived.inc({ outcome });
      return outcome;
    },
  };
}
