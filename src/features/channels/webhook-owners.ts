import type { Db } from '../../database/database.ts';
import type { ChannelIds } from '../../network/cloud-api/webhook/address.ts';
import { sha256 } from '../../platform/crypto.ts';
import type { Resources } from '../../schema/context.ts';
import type { PublicChannel } from './channel.ts';
import { listAppSecrets, listChannelsWithOwnership, verifyTokenExists } from './store.ts';
import { findWebhookOwners } from './webhook-owners.sql.ts';

export interface WebhookOwner extends ChannelIds {
  readonly tenantId: number;
  readonly channelId: number;
  readonly appSecret: string;
}

/** The channels that a webhook names, as of one moment. */
export interface WebhookOwners {
  readonly owners: readonly WebhookOwner[];
  /** A digest of them, by `webhook_owners_version`; empty without owners. */
  readonly version: string;
  /** Of all owners in the database; empty without owners. */
  readonly revision: string;
}

/** The channels that a webhook names, with their app secrets. */
export async function webhookOwners(
  { db, secrets }: Pick<Resources, 'db' | 'secrets'>,
  phoneNumberIds: readonly string[],
  accountIds: readonly string[],
): Promise<WebhookOwners> {
  const rows = await findWebhookOwners(db.read, phoneNumberIds, accountIds);
  const owners = rows.map(row => ({
    tenantId: row.tenant_id,
    channelId: row.channel_id,
    phoneNumberId: row.phone_number_id,
    wabaId: row.waba_id,
    portfolioId: row.portfolio_id,
    displayPhoneNumber: row.display_phone_number,
    appSecret: secrets.open(row.app_secret_sealed),
  }));
  return { owners, version: rows[0]?.version ?? '', revision: rows[0]?.revision ?? '' };
}

/** Whether a channel was connected with this verify token. */
export const isVerifyToken = ({ db }: Pick<Resources, 'db'>, token: string): Promise<boolean> =>
  verifyTokenExists(db.read, sha256(token));

/**
 * All distinct app secrets, most used first. They are the candidates for the signature of a webhook that names none of our
 * numbers.
 */
export async function allAppSecrets({ db, secrets }: Pick<Resources, 'db' | 'secrets'>): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const sealed of await listAppSecrets(db.read)) {
    const secret = secrets.open(sealed);
    counts.set(secret, (counts.get(secret) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([secret]) => secret);
}

/** A channel with the identifiers by which webhooks address it. */
export interface AddressableChannel extends ChannelIds {
  readonly channel: PublicChannel;
  /** False if another tenant has connected its number since it was disconnected. */
  readonly ownsNumber: boolean;
}

export async function channelsWithIds(db: Db, tenantId: number): Promise<AddressableChannel[]> {
  const channels = await listChannelsWithOwnership(db, tenantId);
  return channels.map(({ owns_number: ownsNumber, ...channel }) => ({
    channel,
    ownsNumber,
    phoneNumberId: channel.phone_number_id,
    wabaId: channel.waba_id,
    portfolioId: channel.portfolio_id,
    displayPhoneNumber: channel.display_phone_number,
  }));
}
