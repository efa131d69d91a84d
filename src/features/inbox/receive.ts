import { LRUCache } from 'lru-cache';
import { CodedError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { isUnavailable } from '../../database/unavailable.ts';
import { verifySignature } from '../../network/cloud-api/signature.ts';
import { channelsOfAddress } from '../../network/cloud-api/webhook/address.ts';
import { changesOf, type RawChange } from '../../network/cloud-api/webhook/changes.ts';
import { SECOND } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto.ts';
import { parseStorable } from '../../platform/json.ts';
import { KeyedBatches } from '../../platform/keyed-batches.ts';
import { QueueOverload } from '../../platform/keyed-semaphore.ts';
import { VERSION } from '../../platform/version.ts';
import type { Resources } from '../../schema/context.ts';
import { allAppSecrets, type WebhookOwner, webhookOwners } from '../channels/webhook-owners.ts';
import { insertUnrouted, type NewUnrouted } from './changes.sql.ts';
import { countUnhandled } from './unhandled-changes.ts';
import {
  INBOX,
  insertWebhooks,
  type NewWebhook,
  type StoredFor,
  type WebhookAddress,
  type WebhookTenant,
} from './webhooks.sql.ts';

/** The response to the network. */
export type Receipt = 'stored' | 'forbidden';

const SECRETS_TTL_MS = 60 * SECOND;
/**
 * Limits the bytes hashed to find the signer of a body that names none of our numbers, because such a body can come from
 * anywhere. With 1,000 secrets, all are tried on bodies of up to 64 kB; with 16, on every body.
 */
const HASHED_BYTES = 64 * 1024 * 1024;
/** Larger bodies are stored by themselves, so that a hundred together stay small. */
const MAX_SHARED_BYTES = 16 * 1024;
/** Requests that name the same ids share a look-up of their owners that begins after they arrived. */
const OWNER_BATCHES = { maxSize: 1_000, maxRunning: 2, maxWaiting: 10_000 };
/**
 * Webhooks that arrive while others are stored, or soon after those began, are stored together: the network sends a thousand statuses
 * a second in requests of their own.
 */
const STORE_BATCHES = { maxSize: 100, maxRunning: 2, maxWaiting: 10_000, spacingMs: 50 };
/** Addresses whose owners a process remembers. */
const MAX_ADDRESSES = 10_000;
/** Look-ups, while the owners change again and again. */
const MAX_LOOKUPS = 3;
export const SECRET_LABEL = 'app secret of an unrouted change';

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
/** The ids that changes have, distinct and sorted, so that requests with the same ids have the same key. */
const distinctIds = <T>(changes: readonly T[], idOf: (change: T) => string | undefined): string[] =>
  [...new Set(changes.map(idOf).filter(id => id !== undefined))].sort();

const keyOf = ({ phoneNumberIds, accountIds }: Pick<WebhookAddress, 'phoneNumberIds' | 'accountIds'>): string =>
  JSON.stringify([phoneNumberIds, accountIds]);

/** A request of the network. */
interface Request {
  readonly rawBody: Buffer;
  readonly signature: string | undefined;
  /** The parsed body; undefined if it cannot be parsed. */
  readonly body: unknown;
  readonly changes: readonly RawChange[];
}

/** An address with its owners. */
interface Owned {
  readonly owners: readonly WebhookOwner[];
  readonly address: WebhookAddress;
}

/** The tenants that get a request. */
interface Routed {
  readonly tenants: readonly WebhookTenant[];
  /** Whether the secrets of all owners signed it. */
  readonly isWhole: boolean;
  /** Changes that concern no tenant. */
  readonly unrouted: readonly { readonly index: number; readonly change: RawChange }[];
}

export interface WebhookReceiver {
  /**
   * Verifies the signature on the raw bytes and stores the webhook for the worker. A tenant receives it only if the app secret
   * of its own channel signed it, and only for these channels, so that the secret of one channel cannot forge webhooks for another.
   * Changes that concern no channel whose secret signed are stored as unrouted, with a MAC of the secret that did: they can only be
   * routed to channels with that secret. A correctly signed body is never rejected for its content, because the network would repeat
   * it for seven days.
   */
  receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt>;
}

export function createWebhookReceiver(
  resources: Pick<Resources, 'db' | 'secrets' | 'lanes' | 'metrics'>,
): WebhookReceiver {
  const ownerBatches = new KeyedBatches(OWNER_BATCHES);
  const storeBatches = new KeyedBatches(STORE_BATCHES);
  const known = new LRUCache<string, Owned>({ max: MAX_ADDRESSES });
  const allSecrets = new LRUCache<'all', Promise<string[]>>({ max: 1, ttl: SECRETS_TTL_MS });

  async function store(webhook: NewWebhook): Promise<StoredFor> {
    if (webhook.body.length > MAX_SHARED_BYTES)
      return (await insertWebhooks(resources.db.write, [webhook]))[0] ?? 'stale';
    const stored = await storeBatches.run('all', webhook, storeTogether);
    if (stored instanceof Error) throw stored;
    return stored;
  }

  /** In one statement; if it fails, each by itself, so that one does not fail the others. */
  async function storeTogether(webhooks: readonly NewWebhook[]): Promise<readonly (StoredFor | Error)[]> {
    try {
      return await insertWebhooks(resources.db.write, webhooks);
    } catch (error) {
      if (webhooks.length === 1 || isUnavailable(error)) throw error;
      const one = async (webhook: NewWebhook) => (await insertWebhooks(resources.db.write, [webhook]))[0] ?? 'stale';
      return Promise.all(webhooks.map(webhook => one(webhook).catch(asError)));
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

  /** Finds and remembers the owners of an address. */
  const lookUp = (key: string, phoneNumberIds: readonly string[], accountIds: readonly string[]): Promise<Owned> =>
    ownerBatches.run(key, undefined, async requests => {
      const { owners, version, revision } = await webhookOwners(resources, phoneNumberIds, accountIds);
      const owned = { owners, address: { phoneNumberIds, accountIds, version, revision } };
      if (owners.length > 0) known.set(key, owned);
      else known.delete(key);
      return requests.map(() => owned);
    });

  /**
   * A webhook that its remembered owners signed is stored without another look-up: the statement verifies that they are still its owners,
   * because a number may have moved to another tenant with the same app secret. All other webhooks are decided by a fresh look-up.
   */
  async function receive(rawBody: Buffer, signature: string | undefined): Promise<Receipt> {
    const body = parseStorable(rawBody.toString('utf8'));
    const request: Request = { rawBody, signature, body, changes: changesOf(body) };
    const numbers = distinctIds(request.changes, ({ address }) => address.phoneNumberId);
    const accounts = distinctIds(
      request.changes.flatMap(({ address }) => [{ id: address.wabaId }, { id: address.portfolioId }]),
      ({ id }) => id,
    );
    const key = keyOf({ phoneNumberIds: numbers, accountIds: accounts });
    const remembered = known.get(key);
    if (remembered) {
      const routed = route(request, remembered.owners, signedOwners(request, remembered.owners));
      if (routed.tenants.length > 0 && routed.unrouted.length === 0 && (await deliver(request, remembered, routed)))
        return 'stored';
    }
    for (let lookups = 0; lookups < MAX_LOOKUPS; lookups += 1) {
      const owned = await lookUp(key, numbers, accounts);
      const signed = signedOwners(request, owned.owners);
      // If the owners are known and none signed, the body is forged or a secret is outdated; the network will retry.
      const signer = owned.owners.length > 0 ? signed[0]?.appSecret : await signerOf(rawBody, signature);
      if (signer === undefined) return 'forbidden';
      const routed = route(request, owned.owners, signed);
      if (!(await deliver(request, owned, routed))) continue;
      await keepUnrouted(request, routed, signer);
      return 'stored';
    }
    throw new CodedError('SERVICE_UNAVAILABLE', 'The channels of the webhook are being changed. Try again.');
  }

  /** @returns false if the owners have changed, and nothing was stored */
  async function deliver({ rawBody }: Request, { address }: Owned, routed: Routed): Promise<boolean> {
    const { tenants } = routed;
    if (tenants.length === 0) return true;
    const stored = await store({ tenants, address, digest: digestOf(rawBody, routed), body: rawBody });
    if (stored === 'stale') return false;
    // Owners of some address have changed, though not of this one: it costs more to verify than to be looked up once more.
    if (!stored.isLatest) known.delete(keyOf(address));
    // A lane with many webhooks begins a batch every `SPACING_MS` (process.ts), woken or not; the first signal after a pause is sent
    // at once.
    for (const tenantId of stored.tenantIds) resources.lanes.wake(INBOX, String(tenantId), 'later');
    return true;
  }

  async function keepUnrouted({ rawBody, body }: Request, { unrouted }: Routed, signer: string): Promise<void> {
    if (unrouted.length === 0) return;
    const digest = sha256(rawBody).toString('hex');
    const changes = unrouted.map(({ index, change: { field, raw } }): NewUnrouted => {
      const bytes = body === undefined ? rawBody : Buffer.from(JSON.stringify(raw));
      return { id: newId(), digest: sha256(`${digest} ${index}`), field, raw: bytes };
    });
    const mac = resources.secrets.permanentMac(SECRET_LABEL, signer);
    await insertUnrouted(resources.db.write, changes, mac, VERSION);
    countUnhandled(
      resources.metrics,
      changes.map(({ field }) => ({ field, reason: 'unrouted' })),
    );
  }

  return {
    async receive(rawBody, signature) {
      const outcome = await receive(rawBody, signature).catch((error: unknown) => {
        throw error instanceof QueueOverload
          ? new CodedError('SERVICE_UNAVAILABLE', 'Too many webhooks wait to be stored. Try again.')
          : error;
      });
      resources.metrics.webhooksReceived.inc({ outcome });
      return outcome;
    },
  };
}

/** The owners whose app secret signed the request. */
function signedOwners({ rawBody, signature }: Request, owners: readonly WebhookOwner[]): readonly WebhookOwner[] {
  const secrets = new Set(owners.map(({ appSecret }) => appSecret));
  const signers = new Set([...secrets].filter(secret => verifySignature(rawBody, signature, [secret])));
  return owners.filter(({ appSecret }) => signers.has(appSecret));
}

/**
 * Identifies repeated deliveries. A body with changes of several apps is delivered by each, with its own signature and for its own channels,
 * so what some of the owners signed is another webhook for other channels.
 */
function digestOf(rawBody: Buffer, { tenants, isWhole }: Routed): Buffer {
  const digest = sha256(rawBody);
  if (isWhole) return digest;
  return sha256(`${digest.toString('hex')} ${tenants.flatMap(({ channelIds }) => channelIds).join()}`);
}

function route({ changes }: Request, owners: readonly WebhookOwner[], signed: readonly WebhookOwner[]): Routed {
  const channelIds = new Map<number, Set<number>>();
  const unrouted: { index: number; change: RawChange }[] = [];
  for (const [index, change] of changes.entries()) {
    const channels = channelsOfAddress(change.address, signed);
    for (const { tenantId, channelId } of channels) {
      const ofTenant = channelIds.get(tenantId);
      if (ofTenant) ofTenant.add(channelId);
      else channelIds.set(tenantId, new Set([channelId]));
    }
    if (channels.length === 0) unrouted.push({ index, change });
  }
  const tenants = [...channelIds].map(([tenantId, ids]) => ({ tenantId, channelIds: [...ids] }));
  return { tenants, isWhole: signed.length === owners.length, unrouted };
}
