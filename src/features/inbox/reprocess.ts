import { NIL_UUID, newId } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { channelsOfAddress } from '../../network/cloud-api/webhook/address.ts';
import { changesOf } from '../../network/cloud-api/webhook/changes.ts';
import { readWebhook } from '../../network/cloud-api/webhook.ts';
import { sha256 } from '../../platform/crypto.ts';
import { parseJson } from '../../platform/json.ts';
import { VERSION } from '../../platform/version.ts';
import type { Resources } from '../../schema/context.ts';
import { webhookOwners } from '../channels/webhook-owners.ts';
import {
  listForReprocessing,
  listUnrouted,
  setRead,
  setRouted,
  type UnroutedChange,
  type WaitingChange,
} from './changes.sql.ts';
import { SECRET_LABEL } from './receive.ts';
import { requeueWebhook } from './webhooks.sql.ts';

const BATCH = 200;

type Needs = Pick<Resources, 'db' | 'secrets'>;

export interface ReprocessOptions {
  readonly tenantId?: number | undefined;
  readonly field?: string | undefined;
  /** Skips changes that this version has already read. */
  readonly isUpgrade: boolean;
  readonly onProgress?: (done: Reprocessed) => void;
}

export interface Reprocessed {
  /** Changes examined. */
  readonly read: number;
  /** Changes that are readable now, and queued to be applied. */
  readonly readable: number;
  /** Unrouted changes that belong to a tenant now. */
  readonly routed: number;
  /** Tenants with queued changes. */
  readonly tenantIds: ReadonlySet<number>;
}

/**
 * Reads unhandled changes again. Those that are readable now are queued as webhooks. Unrouted changes go to the tenants that
 * have connected their number since, if the tenant's app secret signed the change.
 */
export async function reprocess(needs: Needs, options: ReprocessOptions): Promise<Reprocessed> {
  const { db } = needs;
  const tenantIds = new Set<number>();
  let [read, readable, routed] = [0, 0, 0];
  const progress = (): Reprocessed => ({ read, readable, routed, tenantIds });
  const { tenantId, field, isUpgrade, onProgress } = options;
  for (let after = NIL_UUID; ; ) {
    const changes = await listForReprocessing(db.write, tenantId, field, after, BATCH, isUpgrade ? VERSION : undefined);
    for (const [id, ofTenant] of Map.groupBy(changes, change => change.tenant_id)) {
      const requeued = await db.transaction(trx => requeueReadable(trx, id, ofTenant));
      readable += requeued;
      if (requeued > 0) tenantIds.add(id);
    }
    read += changes.length;
    onProgress?.(progress());
    const last = changes.at(-1);
    if (!last || changes.length < BATCH) break;
    after = last.id;
  }
  if (tenantId !== undefined || field !== undefined) return progress();
  for (let after = NIL_UUID; ; ) {
    const changes = await listUnrouted(db.write, after, BATCH);
    for (const change of changes) {
      const owners = await routeToOwners(needs, change);
      if (owners.length > 0) routed += 1;
      for (const owner of owners) tenantIds.add(owner);
    }
    read += changes.length;
    onProgress?.(progress());
    const last = changes.at(-1);
    if (!last || changes.length < BATCH) return progress();
    after = last.id;
  }
}

const bodyOf = (raw: unknown): Buffer =>
  Buffer.from(JSON.stringify({ object: 'whatsapp_business_account', entry: [raw] }));

/** @returns the number of changes that are readable now */
async function requeueReadable(trx: Db, tenantId: number, changes: readonly WaitingChange[]): Promise<number> {
  const readable = changes.filter(({ raw, received_at: at }) =>
    readWebhook({ entry: [raw] }, new Date(at)).some(({ updates }) => updates.some(({ kind }) => kind !== 'unhandled')),
  );
  for (const { id, channel_id: channelId, raw, received_at: at } of readable) {
    const body = bodyOf(raw);
    const channelIds = channelId === null ? null : [channelId];
    await requeueWebhook(trx, tenantId, channelIds, sha256(`${id} ${body}`), newId(), body, at);
  }
  const idsOf = (rows: readonly WaitingChange[]): string[] => rows.map(({ id }) => id);
  await setRead(trx, tenantId, idsOf(changes), idsOf(readable), VERSION);
  return readable.length;
}

/** @returns the tenants that received the change */
async function routeToOwners(needs: Needs, { id, raw, secret_mac, received_at }: UnroutedChange): Promise<number[]> {
  const entry = parseJson(raw.toString('utf8'));
  const [change] = changesOf({ entry: [entry] });
  if (!change || change.field === '') return [];
  const { address } = change;
  const { owners } = await webhookOwners(
    needs,
    address.phoneNumberId === undefined ? [] : [address.phoneNumberId],
    [address.wabaId, address.portfolioId].filter(id => id !== undefined),
  );
  const signed = owners.filter(({ appSecret }) =>
    needs.secrets.permanentMac(SECRET_LABEL, appSecret).equals(secret_mac),
  );
  const channelIds = Map.groupBy(channelsOfAddress(address, signed), ({ tenantId }) => tenantId);
  if (channelIds.size === 0) return [];
  const body = bodyOf(entry);
  await needs.db.transaction(async trx => {
    for (const [tenantId, channels] of channelIds) {
      const ids = channels.map(({ channelId }) => channelId);
      await requeueWebhook(trx, tenantId, ids, sha256(`${id} ${body}`), newId(), body, received_at);
    }
    await setRouted(trx, id);
  });
  return [...channelIds.keys()];
}
