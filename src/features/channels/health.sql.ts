import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyOf, bigints, unnest } from '../../database/expressions.ts';
import type { ChannelRef } from './channel.ts';
import type { PublicHealth, ToldAt } from './health.ts';

/** The columns that a report may change, with their types. */
const REPORTED = {
  quality: 'text',
  messaging_limit: 'integer',
  is_messaging_limit_known: 'boolean',
  throughput: 'text',
  name_status: 'text',
  name_reason: 'text',
  requested_name: 'text',
  account_review: 'text',
  account_status: 'text',
  username: 'text',
  username_status: 'text',
  restrictions: 'jsonb',
  last_error: 'jsonb',
  last_change: 'jsonb',
  can_send: 'text',
  checked_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const satisfies Record<Exclude<keyof PublicHealth, 'channel_id'>, string>;

const columns = Object.keys(REPORTED) as readonly (keyof typeof REPORTED)[];

/** The health of a channel, and when the network told what is known. */
export interface LockedHealth {
  readonly health: PublicHealth;
  readonly toldAt: ToldAt;
}

/** Locks the health rows of channels, creating missing ones. */
export async function lockHealth(trx: Db, tenantId: number, channelIds: readonly number[]): Promise<LockedHealth[]> {
  await trx
    .insertInto('channel_health')
    .columns(['tenant_id', 'channel_id'])
    .expression(db =>
      db
        .selectFrom(unnest('c', { id: bigints(channelIds) }))
        .select(eb => [eb.cast<number>(eb.val(tenantId), 'bigint').as('tenant_id'), 'c.id'])
        .orderBy('c.id'),
    )
    .onConflict(conflict => conflict.doNothing())
    .execute();
  const rows = await trx
    .selectFrom('channel_health')
    .select(['channel_id', 'told_at', ...columns])
    .$narrowType<Pick<PublicHealth, 'restrictions' | 'last_error' | 'last_change'> & { told_at: ToldAt }>()
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', anyOf(channelIds))
    .orderBy('channel_id')
    .forNoKeyUpdate()
    .execute();
  return rows.map(({ told_at: toldAt, ...health }) => ({ health, toldAt }));
}

const assignments = sql.raw(columns.map(column => `${column} = r.${column}`).join(', '));
const definitions = sql.raw(columns.map(column => `${column} ${REPORTED[column]}`).join(', '));

/** @param health without `told_at`: it stays */
export async function writeHealth(
  trx: Db,
  tenantId: number,
  health: readonly (PublicHealth & { readonly told_at?: ToldAt })[],
): Promise<void> {
  await sql`
    update channel_health h set ${assignments}, told_at = coalesce(r.told_at, h.told_at)
    from jsonb_to_recordset(${JSON.stringify(health)}::jsonb) as r (channel_id bigint, told_at jsonb, ${definitions})
    where h.tenant_id = ${tenantId} and h.channel_id = r.channel_id`.execute(trx);
}

/** Health with the time of the last webhook about the channel. */
export type StoredHealth = PublicHealth & { readonly last_webhook_at: string | null };

export const findHealth = (db: Db, tenantId: number, channelIds: readonly number[]): Promise<StoredHealth[]> =>
  db
    .selectFrom('channel_health')
    .select(['channel_id', 'last_webhook_at', ...columns])
    .$narrowType<Pick<PublicHealth, 'restrictions' | 'last_error' | 'last_change'>>()
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', anyOf(channelIds))
    .execute();

/** Stores when the last webhook about channels arrived. */
export async function writeLastWebhook(
  db: Db,
  tenantId: number,
  channelIds: readonly number[],
  receivedAt: string,
): Promise<void> {
  await db
    .insertInto('channel_health')
    .columns(['tenant_id', 'channel_id', 'last_webhook_at'])
    .expression(from =>
      from
        .selectFrom(unnest('c', { id: bigints(channelIds) }))
        .select(eb => [
          eb.cast<number>(eb.val(tenantId), 'bigint').as('tenant_id'),
          'c.id',
          eb.cast<string>(eb.val(receivedAt), 'timestamptz').as('last_webhook_at'),
        ])
        .orderBy('c.id'),
    )
    .onConflict(conflict =>
      conflict
        .columns(['tenant_id', 'channel_id'])
        .doUpdateSet(({ ref }) => ({ last_webhook_at: ref('excluded.last_webhook_at') }))
        .where('channel_health.tenant_id', '=', tenantId),
    )
    .execute();
}

/**
 * Claims one connected channel, of any tenant, whose health was never asked for or not since `checkedBefore`. A channel asked for
 * after `askedBefore` is not due: another worker has it, or the network did not answer.
 * @returns undefined if none is due, or another worker was faster
 */
export async function claimUnchecked(
  db: Db,
  times: { readonly now: string; readonly checkedBefore: string; readonly askedBefore: string },
): Promise<ChannelRef | undefined> {
  const { rows } = await sql<ChannelRef>`
    /* cross-tenant: a worker checks the numbers of all tenants */
    insert into channel_health as h (tenant_id, channel_id, asked_at)
    select due.tenant_id, due.id, ${times.now}::timestamptz
    from (
      select c.tenant_id, c.id
      from channels c
      left join channel_health k on k.tenant_id = c.tenant_id and k.channel_id = c.id
      where c.status <> 'disconnected'
        and (k.checked_at is null or k.checked_at <= ${times.checkedBefore}::timestamptz)
        and (k.asked_at is null or k.asked_at <= ${times.askedBefore}::timestamptz)
      order by k.asked_at nulls first, c.tenant_id, c.id
      limit 1
    ) due
    on conflict (tenant_id, channel_id) do update set asked_at = excluded.asked_at
    where h.asked_at is null or h.asked_at <= ${times.askedBefore}::timestamptz
    returning h.tenant_id as "tenantId", h.channel_id as "channelId"`.execute(db);
  return rows[0];
}
