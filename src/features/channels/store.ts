import type { ExpressionBuilder } from 'kysely';
import { compileOnce } from '../../database/compile-once.ts';
import type { Db, Schema } from '../../database/database.ts';
import { anyOf, bigints, crossTenant, transactionTime, unnest } from '../../database/expressions.ts';
import type { ChannelRef, PublicChannel } from './channel.ts';

export const CHANNEL_COLUMNS = [
  'id',
  'name',
  'phone_number_id',
  'waba_id',
  'portfolio_id',
  'display_phone_number',
  'verified_name',
  'messages_per_second',
  'is_default',
  'is_sandbox',
  'status',
  'status_reason',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof PublicChannel)[];

type Status = Pick<PublicChannel, 'status'>;

export const listChannels = compileOnce((db, tenantId: number) =>
  db
    .selectFrom('channels')
    .select(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .where('tenant_id', '=', tenantId)
    .orderBy('id'),
);

/** The channels of a tenant, each with whether it owns its number: another tenant may have connected that of a disconnected one. */
export const listChannelsWithOwnership = compileOnce((db, tenantId: number) =>
  db
    .selectFrom('channels as c')
    .leftJoin('channel_numbers as n', join =>
      join
        .onRef('n.phone_number_id', '=', 'c.phone_number_id')
        .onRef('n.tenant_id', '=', 'c.tenant_id')
        .onRef('n.channel_id', '=', 'c.id'),
    )
    .select(CHANNEL_COLUMNS.map(column => `c.${column}` as const))
    .select(eb => eb('n.channel_id', 'is not', null).$castTo<boolean>().as('owns_number'))
    .$narrowType<Status>()
    .where('c.tenant_id', '=', tenantId)
    .orderBy('c.id'),
);

export const getChannels = compileOnce((db, tenantId: number, ids: readonly number[]) =>
  db
    .selectFrom('channels')
    .select(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids)),
);

export interface NewChannel {
  readonly name: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly displayPhoneNumber: string;
  readonly verifiedName: string;
  readonly accessTokenSealed: Buffer;
  readonly appSecretSealed: Buffer;
  readonly verifyTokenHash: Buffer;
  readonly messagesPerSecond: number;
  /** Undefined keeps the value; false for a new channel. */
  readonly isSandbox: boolean | undefined;
}

/**
 * Adds a channel, or updates the credentials of the tenant's channel with this number, which reconnects it with its history. A
 * number that another tenant has disconnected is taken over without that tenant's history. The first channel becomes the default.
 * @returns undefined if the number is connected to another tenant
 */
export async function upsertChannel(
  trx: Db,
  tenantId: number,
  channel: NewChannel,
): Promise<PublicChannel | undefined> {
  const owner = await trx
    .selectFrom('channel_numbers')
    .select(['tenant_id', 'channel_id'])
    .where('phone_number_id', '=', channel.phoneNumberId)
    .forUpdate()
    .modifyEnd(crossTenant('a number has one owner'))
    .executeTakeFirst();
  if (owner && owner.tenant_id !== tenantId) {
    // Read after the lock, which a concurrent disconnection holds until it commits.
    const [ownerChannel] = await getChannels(trx, owner.tenant_id, [owner.channel_id]);
    if (ownerChannel?.status !== 'disconnected') return undefined;
  }
  const current = await trx
    .selectFrom('channels')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('phone_number_id', '=', channel.phoneNumberId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const row = current
    ? await updateCredentials(trx, tenantId, current.id, channel)
    : await insertChannel(trx, tenantId, channel);
  if (owner)
    await trx
      .updateTable('channel_numbers')
      .set({ tenant_id: tenantId, channel_id: row.id })
      .where('phone_number_id', '=', channel.phoneNumberId)
      .modifyEnd(crossTenant('a number has one owner'))
      .execute();
  // The key rejects a second owner.
  else
    await trx
      .insertInto('channel_numbers')
      .values({ tenant_id: tenantId, channel_id: row.id, phone_number_id: channel.phoneNumberId })
      .execute();
  return row;
}

const hasDefault = (eb: ExpressionBuilder<Schema, 'channels'>, tenantId: number) =>
  eb
    .exists(
      eb
        .selectFrom('channels as d')
        .select('d.id')
        .where('d.tenant_id', '=', tenantId)
        .where(({ ref }) => ref('d.is_default')),
    )
    .$castTo<boolean>();

/** The columns that a connection sets anew each time. */
const credentialsOf = (channel: NewChannel) => ({
  name: channel.name,
  waba_id: channel.wabaId,
  display_phone_number: channel.displayPhoneNumber,
  verified_name: channel.verifiedName,
  access_token_sealed: channel.accessTokenSealed,
  app_secret_sealed: channel.appSecretSealed,
  verify_token_hash: channel.verifyTokenHash,
  messages_per_second: channel.messagesPerSecond,
  ...(channel.isSandbox !== undefined && { is_sandbox: channel.isSandbox }),
});

const insertChannel = (trx: Db, tenantId: number, channel: NewChannel): Promise<PublicChannel> =>
  trx
    .insertInto('channels')
    .values(eb => ({
      tenant_id: tenantId,
      phone_number_id: channel.phoneNumberId,
      ...credentialsOf(channel),
      is_default: eb.not(hasDefault(eb, tenantId)).$castTo<boolean>(),
    }))
    .returning(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .executeTakeFirstOrThrow();

const updateCredentials = (trx: Db, tenantId: number, id: number, channel: NewChannel): Promise<PublicChannel> =>
  trx
    .updateTable('channels')
    .set(eb => ({
      ...credentialsOf(channel),
      portfolio_id: eb.case().when('waba_id', '=', channel.wabaId).then(eb.ref('portfolio_id')).end(),
      status: 'active',
      status_reason: null,
      updated_at: transactionTime,
      is_default: eb.or([eb.ref('is_default'), eb.not(hasDefault(eb, tenantId))]).$castTo<boolean>(),
    }))
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .executeTakeFirstOrThrow();

/** @returns undefined for a channel that does not exist or is disconnected */
export const setChannelStatus = (
  trx: Db,
  tenantId: number,
  id: number,
  status: PublicChannel['status'],
  reason: string | null,
): Promise<PublicChannel | undefined> => updateConnected(trx, tenantId, id, { status, status_reason: reason });

const updateConnected = (
  trx: Db,
  tenantId: number,
  id: number,
  values: Partial<Pick<PublicChannel, 'status' | 'status_reason' | 'is_default'>>,
): Promise<PublicChannel | undefined> =>
  trx
    .updateTable('channels')
    .set({ ...values, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('status', '<>', 'disconnected')
    .returning(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .executeTakeFirst();

/** Ends the ownership of a tenant's numbers: their webhooks are nobody's until somebody connects them. */
export const releaseNumbers = (trx: Db, tenantId: number): Promise<unknown> =>
  trx.deleteFrom('channel_numbers').where('tenant_id', '=', tenantId).execute();

/**
 * Marks a channel as disconnected. If it was the default, the oldest connected channel becomes the default.
 * @returns the changed channels, the disconnected one first; empty if it does not exist or is already disconnected
 */
export async function disconnect(trx: Db, tenantId: number, id: number, reason: string): Promise<PublicChannel[]> {
  // Same lock order as `upsertChannel`, so that connecting the same number waits for this transaction.
  await trx
    .selectFrom('channel_numbers')
    .select('channel_id')
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', id)
    .forUpdate()
    .execute();
  const channel = await updateConnected(trx, tenantId, id, {
    status: 'disconnected',
    status_reason: reason,
    is_default: false,
  });
  if (!channel) return [];
  const next = await trx
    .updateTable('channels')
    .set({ is_default: true, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb =>
      eb
        .selectFrom('channels as c')
        .select(({ fn }) => fn.min('c.id').as('id'))
        .where('c.tenant_id', '=', tenantId)
        .where('c.status', '<>', 'disconnected'),
    )
    .where(eb => eb.not(hasDefault(eb, tenantId)))
    .returning(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .execute();
  return [channel, ...next];
}

/** Locks all channels of a tenant, which are few, in one order, and returns them. */
export const lockChannels = (trx: Db, tenantId: number): Promise<PublicChannel[]> =>
  trx
    .selectFrom('channels')
    .select(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();

/** Columns that people set. */
export type ChannelSettings = Partial<Pick<PublicChannel, 'name' | 'messages_per_second' | 'is_default'>>;

export const writeSettings = (
  trx: Db,
  tenantId: number,
  id: number,
  settings: ChannelSettings,
): Promise<PublicChannel> =>
  trx
    .updateTable('channels')
    .set({ ...settings, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CHANNEL_COLUMNS)
    .$narrowType<Status>()
    .executeTakeFirstOrThrow();

export interface SealedCredentials {
  readonly phone_number_id: string;
  readonly waba_id: string;
  readonly access_token_sealed: Buffer;
  readonly messages_per_second: number;
  readonly status: PublicChannel['status'];
  readonly tenant_status: 'active' | 'suspended';
}

const selectCredentials = compileOnce((db, tenantIds: readonly number[], channelIds: readonly number[]) =>
  db
    .selectFrom(unnest('r', { tenant_id: bigints(tenantIds), id: bigints(channelIds) }))
    .innerJoin('channels as c', join => join.onRef('c.tenant_id', '=', 'r.tenant_id').onRef('c.id', '=', 'r.id'))
    .innerJoin('tenants as n', 'n.tenant_id', 'c.tenant_id')
    .select(['c.tenant_id', 'c.id', 'c.phone_number_id', 'c.waba_id'])
    .select(['c.access_token_sealed', 'c.messages_per_second', 'c.status', 'n.status as tenant_status'])
    .$narrowType<Status & Pick<SealedCredentials, 'tenant_status'>>()
    .modifyEnd(crossTenant('a process drains lanes of all tenants; each channel is given with its tenant')),
);

/** Credentials of channels of any tenants, in the order given; undefined for an unknown channel. */
export async function findCredentials(
  db: Db,
  channels: readonly ChannelRef[],
): Promise<(SealedCredentials | undefined)[]> {
  const rows = await selectCredentials(
    db,
    channels.map(({ tenantId }) => tenantId),
    channels.map(({ channelId }) => channelId),
  );
  const found = new Map(rows.map(row => [`${row.tenant_id} ${row.id}`, row]));
  return channels.map(({ tenantId, channelId }) => found.get(`${tenantId} ${channelId}`));
}

export async function listAppSecrets(db: Db): Promise<Buffer[]> {
  const rows = await db
    .selectFrom('channels')
    .select('app_secret_sealed')
    .modifyEnd(
      crossTenant(
        'a webhook that names none of our numbers is checked against every secret, and assigned to no tenant',
      ),
    )
    .execute();
  return rows.map(row => row.app_secret_sealed);
}

export async function verifyTokenExists(db: Db, hash: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('channels')
    .select('id')
    .where('verify_token_hash', '=', hash)
    .limit(1)
    .modifyEnd(crossTenant('the network checks the address before any tenant is named'))
    .executeTakeFirst();
  return row !== undefined;
}
