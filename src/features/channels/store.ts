import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import type { ChannelRow } from './channel.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    channels: ChannelRow & { tenant_id: number };
    channel_numbers: { phone_number_id: string; tenant_id: number; channel_id: number };
  }
}

const COLUMNS =
  sql.raw(`id, name, phone_number_id, waba_id, display_phone_number, verified_name, messages_per_second, is_default, is_sandbox,
  status, status_reason, created_at, updated_at`);

export async function listChannels(db: Db, tenantId: number): Promise<ChannelRow[]> {
  const { rows } =
    await sql<ChannelRow>`select ${COLUMNS} from channels where tenant_id = ${tenantId} order by id`.execute(db);
  return rows;
}

export async function getChannels(db: Db, tenantId: number, ids: readonly number[]): Promise<ChannelRow[]> {
  const { rows } = await sql<ChannelRow>`
    select ${COLUMNS} from channels where tenant_id = ${tenantId} and id = any(${ids}::bigint[])`.execute(db);
  return rows;
}

export interface NewChannel {
  readonly name: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly displayPhoneNumber: string;
  readonly verifiedName: string;
  readonly accessTokenSealed: Uint8Array;
  readonly appSecretSealed: Uint8Array;
  readonly verifyTokenHash: Uint8Array;
  readonly messagesPerSecond: number;
  readonly isSandbox: boolean;
}

/**
 * Adds a channel, or gives the tenant's channel with this number new credentials. The tenant's first one is its default.
 * @returns undefined when the number belongs to another tenant
 */
export async function upsertChannel(trx: Db, tenantId: number, channel: NewChannel): Promise<ChannelRow | undefined> {
  const { rows: owners } = await sql<{ tenant_id: number; channel_id: number }>`
    /* cross-tenant: a number has one owner */
    select tenant_id, channel_id from channel_numbers where phone_number_id = ${channel.phoneNumberId} for update`.execute(
    trx,
  );
  const owner = owners[0];
  if (owner && owner.tenant_id !== tenantId) return undefined;
  if (owner) return updateCredentials(trx, tenantId, owner.channel_id, channel);
  const { rows } = await sql<ChannelRow>`
    insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, verified_name, access_token_sealed,
                          app_secret_sealed, verify_token_hash, messages_per_second, is_default, is_sandbox)
    values (${tenantId}, ${channel.name}, ${channel.phoneNumberId}, ${channel.wabaId}, ${channel.displayPhoneNumber}, ${channel.verifiedName},
            ${channel.accessTokenSealed}, ${channel.appSecretSealed}, ${channel.verifyTokenHash}, ${channel.messagesPerSecond},
            not exists (select from channels where tenant_id = ${tenantId} and is_default), ${channel.isSandbox})
    returning ${COLUMNS}`.execute(trx);
  const created = rows[0] as ChannelRow;
  await sql`
    /* cross-tenant: a number has one owner; the key refuses a second */
    insert into channel_numbers (phone_number_id, tenant_id, channel_id)
    values (${channel.phoneNumberId}, ${tenantId}, ${created.id})`.execute(trx);
  return created;
}

async function updateCredentials(trx: Db, tenantId: number, id: number, channel: NewChannel): Promise<ChannelRow> {
  const { rows } = await sql<ChannelRow>`
    update channels set name = ${channel.name}, waba_id = ${channel.wabaId}, display_phone_number = ${channel.displayPhoneNumber},
      verified_name = ${channel.verifiedName}, access_token_sealed = ${channel.accessTokenSealed}, app_secret_sealed = ${channel.appSecretSealed},
      verify_token_hash = ${channel.verifyTokenHash}, messages_per_second = ${channel.messagesPerSecond}, is_sandbox = ${channel.isSandbox},
      status = 'active', status_reason = null, updated_at = now()
    where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(trx);
  return rows[0] as ChannelRow;
}

export async function setChannelStatus(
  trx: Db,
  tenantId: number,
  id: number,
  status: ChannelRow['status'],
  reason: string | null,
): Promise<ChannelRow | undefined> {
  const { rows } = await sql<ChannelRow>`
    update channels set status = ${status}, status_reason = ${reason}, updated_at = now() where tenant_id = ${tenantId} and id = ${id}
    returning ${COLUMNS}`.execute(trx);
  return rows[0];
}

export interface SealedCredentials {
  readonly phone_number_id: string;
  readonly waba_id: string;
  readonly access_token_sealed: Buffer;
  readonly messages_per_second: number;
  readonly status: ChannelRow['status'];
}

export async function getCredentials(db: Db, tenantId: number, id: number): Promise<SealedCredentials | undefined> {
  const { rows } = await sql<SealedCredentials>`
    select phone_number_id, waba_id, access_token_sealed, messages_per_second, status
    from channels where tenant_id = ${tenantId} and id = ${id}`.execute(db);
  return rows[0];
}

export interface WebhookOwner {
  readonly tenant_id: number;
  readonly channel_id: number;
  readonly phone_number_id: string;
  readonly waba_id: string;
  readonly app_secret_sealed: Buffer;
}

/** The channels that a webhook names, by the network's ids. */
export async function findWebhookOwners(
  db: Db,
  phoneNumberIds: readonly string[],
  wabaIds: readonly string[],
): Promise<WebhookOwner[]> {
  const { rows } = await sql<WebhookOwner>`
    /* cross-tenant: the network names numbers, not tenants; the signature is checked against each owner's secret */
    select c.tenant_id, c.id as channel_id, c.phone_number_id, c.waba_id, c.app_secret_sealed
    from channels c
    where (c.tenant_id, c.id) in (
        select n.tenant_id, n.channel_id from channel_numbers n where n.phone_number_id = any(${phoneNumberIds}::text[]))
       or c.waba_id = any(${wabaIds}::text[])`.execute(db);
  return rows;
}

export async function verifyTokenExists(db: Db, hash: Uint8Array): Promise<boolean> {
  const { rows } = await sql`
    /* cross-tenant: the network checks the address before any tenant is named */
    select from channels where verify_token_hash = ${hash} limit 1`.execute(db);
  return rows.length > 0;
}
