import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import { anyOf, bigints, unnest } from '../../database/expressions.ts';
import type { PublicHealth } from './health.ts';

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

/** Locks the health rows of channels, creating missing ones. */
export async function lockHealth(trx: Db, tenantId: number, channelIds: readonly number[]): Promise<PublicHealth[]> {
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
  return trx
    .selectFrom('channel_health')
    .select(['channel_id', ...columns])
    .$narrowType<Pick<PublicHealth, 'restrictions' | 'last_error' | 'last_change'>>()
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', anyOf(channelIds))
    .orderBy('channel_id')
    .forNoKeyUpdate()
    .execute();
}

const assignments = sql.raw(columns.map(column => `${column} = r.${column}`).join(', '));
const definitions = sql.raw(columns.map(column => `${column} ${REPORTED[column]}`).join(', '));

export async function writeHealth(trx: Db, tenantId: number, health: readonly PublicHealth[]): Promise<void> {
  await sql`
    update channel_health h set ${assignments}
    from jsonb_to_recordset(${JSON.stringify(health)}::jsonb) as r (channel_id bigint, ${definitions})
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
