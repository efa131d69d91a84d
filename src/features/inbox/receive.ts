import { LRUCache } from 'lru-cache';
import { CodedError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { isUnavailable } from '../../database/unavailable.ts';
import { verifySignature } from '../../network/cloud-api/signature.ts';
import { channelsOfAddress } from '../../network/cloud-api/webhook/address.ts';
import { changesOf, type RawChange } from '../../network/cloud-api/webhook/changes.ts';
import { isKnownField } from '../../network/cloud-api/webhook.ts';
import { SECOND } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto.ts';
import { KeyedBatches } from '../../platform/keyed-batches.ts';
import { SemaphoreTimeout } from '../../platform/keyed-semaphore.ts';
import { VERSION } from '../../platform/version.ts';
import type { Resources } from '../../schema/context.ts';
import { allAppSecrets, type WebhookOwner, webhookOwners } from '../channels/webhook-owners.ts';
import { insertUnrouted, type NewUnrouted } from './changes.sql.ts';
import { readBody } from './read-body.ts';
import { INBOX, insertWebhooks, type NewWebhook } from './webhooks.sql.ts';

/** The response to the network. */
export type Receipt = 'stored' | 'forbidden';

const SECRETS_TTL_MS = 60 * SECOND;
/**
 * Limits the bytes hashed to find the signer of a body that names none of our numbers, because such a body can come from
 * anywhere. With 1,000 secrets, all are tried on bodies of up to 64 kB; with 16, on every body.
 */
const HASHED_BYTES = 64 * 1024 * 1024;
/** Larger bodies are stored by themselves: an array of them is text of twice their length. */
const MAX_SHARED_BYTES = 16 * 1024;
/**
 * Requests that arrive while others run, or soon after those began, share the next look-up of their owners and are stored together: the
 * network sends a thousand statuses a second in requests of their own.
 */
const RECEIPT_BATCHES = { maxSize: 1_000, maxRunning: 2, maxWaiting: 10_000, spacingMs: 50 };
const STORE_BATCHES = { maxSize: 100, maxRunning: 2, maxWaiting: 10_000 };
export const SECRET_LABEL = 'app secret of an unrouted change';

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
/** Distinct and sorted. */
const distinctIds = <T>(changes: readonly T[], idOf: (change: T) => string | undefined): string[] =>
  [...new Set(changes.map(idOf).filter(id => id !== undefined))].sort();

/** A request of the network. */
interface Request {
  readonly rawBody: Buffer;
  readonly signature: string | undefined;
  /** The parsed body; undefined if it cannot be parsed. */
  readonly body: ReturnType<typeof readBody>;
  readonly changes: readonly RawChange[];
}

export interface WebhookReceiver {
  /**
   * Verifies the signature on the raw bytes and stores the webhook for the worker. A tenant receives it only if the app secret
   * of its own channel signed it, so that the secret of one channel cannot forge webhooks for another. Changes that concern no
   * tenant are stored as unrouted. A correctly signed body is never rejected for its content, because the network would repeat
   * it for seven days.
   */
  receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt>;
}

export function createWebhookReceiver(
  resources: Pick<Resources, 'db' | 'secrets' | 'lanes' | 'metrics'>,
): WebhookReceiver {
  const receiptBatches = new KeyedBatches(RECEIPT_BATCHES);
  const storeBatches = new KeyedBatches(STORE_BATCHES);
  const allSecrets = new LRUCache<'all', Promise<string[]>>({ max: 1, ttl: SECRETS_TTL_MS });

  /** @returns the tenants for which the webhook is new */
  async function store(webhook: NewWebhook): Promise<readonly number[]> {
    if (webhook.body.length > MAX_SHARED_BYTES) return insertWebhooks(resources.db.write, [webhook]);
    const stored = await storeBatches.run('all', webhook, storeTogether);
    if (stored instanceof Error) throw stored;
    return stored;
  }

  /** In one statement; if it fails, each by itself, so that one does not fail the others. */
  async function storeTogether(webhooks: readonly NewWebhook[]): Promise<readonly (readonly number[] | Error)[]> {
    try {
      const fresh = await insertWebhooks(resources.db.write, webhooks);
      return webhooks.map(({ tenantIds }) => tenantIds.filter(id => fresh.includes(id)));
    } catch (error) {
      if (webhooks.length === 1 || isUnavailable(error)) throw error;
      return Promise.all(webhooks.map(webhook => insertWebhooks(resources.db.write, [webhook]).catch(asError)));
    }
  }

  /** Finds the secret that signed a body without a known owner. */
  async function signerOf(rawBody: Buffer, signature: string | undefined): Promise<string | undefined> {
    if (signature === undefined) return undefined;
    const listed = allSecrets.get('all') ?? allAppSecrets(resources);
    allSecrets.set('all', listed);
    const secrets = await listed.catch((error: unknown) => {
      allSecrets.delete('all');
      throw error;
    });
    const maxTries = Math.max(1, Math.floor(HASHED_BYTES / Math.max(1, rawBody.length)));
    return secrets.slice(0, maxTries).find(secret => verifySignature(rawBody, signature, [secret]));
  }

  /**
   * Owners are not cached, because a number may have moved to another tenant with the same app secret. Requests that name the same ids
   * share a look-up that begins after they arrived.
   */
  async function receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt> {
    const body = readBody(rawBody);
    const request: Request = { rawBody, signature, body, changes: changesOf(body) };
    const numbers = distinctIds(request.changes, ({ address }) => address.phoneNumberId);
    const accounts = distinctIds(
      request.changes.flatMap(({ address }) => [{ id: address.wabaId }, { id: address.portfolioId }]),
      ({ id }) => id,
    );
    const receipt = await receiptBatches.run(JSON.stringify([numbers, accounts]), request, async requests => {
      const owners = await webhookOwners(resources, numbers, accounts);
      return Promise.all(requests.map(one => receiveFor(owners, one).catch(asError)));
    });
    if (receipt instanceof Error) throw receipt;
    return receipt;
  }

  async function receiveFor(
    owners: readonly WebhookOwner[],
    { rawBody, signature, body, changes }: Request,
  ): Promise<Receipt> {
    const secrets = new Map<string, boolean>();
    const signed = owners.filter(owner => {
      const known = secrets.get(owner.appSecret) ?? verifySignature(rawBody, signature, [owner.appSecret]);
      secrets.set(owner.appSecret, known);
      return known;
    });
    // If the owners are known and none signed, the body is forged or a secret is outdated; the network will retry.
    const signer = owners.length > 0 ? signed[0]?.appSecret : await signerOf(rawBody, signature);
    if (signer === undefined) return 'forbidden';
    const tenantIds = new Set<number>();
    const unrouted: NewUnrouted[] = [];
    const digest = sha256(rawBody);
    for (const [index, change] of changes.entries()) {
      const channels = channelsOfAddress(change.address, signed);
      for (const { tenantId } of channels) tenantIds.add(tenantId);
      if (channels.length > 0) continue;
      const raw = body === undefined ? rawBody : Buffer.from(JSON.stringify(change.raw));
      unrouted.push({ id: newId(), digest: sha256(`${digest.toString('hex')} ${index}`), field: change.field, raw });
    }
    const ids = [...tenantIds];
    const fresh = ids.length === 0 ? [] : await store({ tenantIds: ids, digest, body: rawBody });
    if (unrouted.length > 0)
      await insertUnrouted(resources.db.write, unrouted, resources.secrets.permanentMac(SECRET_LABEL, signer), VERSION);
    for (const { field } of unrouted)
      resources.metrics.changesUnhandled.inc({ field: isKnownField(field) ? field : 'other', reason: 'unrouted' });
    for (const tenantId of fresh) resources.lanes.wake(INBOX, String(tenantId));
    return 'stored';
  }

  return {
    async receive(rawBody, signature) {
      const outcome = await receive(rawBody, signature).catch((error: unknown) => {
        throw error instanceof SemaphoreTimeout
          ? new CodedError('SERVICE_UNAVAILABLE', 'Too many webhooks wait to be stored. Try again.')
          : error;
      });
      resources.metrics.webhooksReceived.inc({ outcome });
      return outcome;
    },
  };
}
