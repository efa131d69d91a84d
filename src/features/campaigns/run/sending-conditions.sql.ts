import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** Facts that decide whether a campaign continues. */
export interface SendingConditions {
  readonly channel_id: number | null;
  readonly channel_status: 'active' | 'paused' | 'disconnected' | null;
  readonly channel_reason: string | null;
  readonly messages_per_second: number | null;
  readonly portfolio_id: string | null;
  readonly quality: string | null;
  /** People a day outside service windows; null: unlimited or unknown. */
  readonly messaging_limit: number | null;
  readonly account_status: string | null;
  readonly restrictions: readonly { readonly type: string; readonly expires_at: string | null }[] | null;
  readonly sent: number;
  readonly delivered: number;
  readonly failed: number;
  /** Messages without an outcome: cancelled, or deleted with their contact before one was known. */
  readonly cancelled: number;
  readonly stop_code: number | null;
}

/** Reads the state of a campaign in one statement. @param channelId null: the default channel */
export async function readSendingConditions(
  db: Db,
  tenantId: number,
  campaignId: number,
  channelId: number | null,
): Promise<SendingConditions> {
  const { rows } = await sql<SendingConditions>`
    select ch.id as channel_id, ch.status as channel_status, ch.status_reason as channel_reason, ch.messages_per_second, ch.portfolio_id,
      h.quality, h.messaging_limit,
      h.account_status, h.restrictions, coalesce(p.sent, 0) as sent, coalesce(p.delivered, 0) as delivered, coalesce(p.failed, 0) as failed,
      coalesce(p.cancelled, 0) as cancelled, p.stop_code
    from (select) as nothing
    left join channels ch on ch.tenant_id = ${tenantId}
      and case when ${channelId}::bigint is null then ch.is_default else ch.id = ${channelId}::bigint end
    left join channel_health h on h.tenant_id = ${tenantId} and h.channel_id = ch.id
    left join campaign_progress p on p.tenant_id = ${tenantId} and p.campaign_id = ${campaignId}`.execute(db);
  return rows[0] as SendingConditions;
}

/**
 * People to whom the portfolio of a channel has sent templates in the last 24 hours: what the network's daily limit counts, apart from
 * those within a service window, which it does not count. Messages that are scheduled for later, were cancelled or failed have reached nobody.
 * Those of before, which were scheduled or had to wait, count from when they were sent, which changed their status. Reads the messages of
 * a day and the changes of a day. Grouped and joined so that it reads each row once, whatever the statistics say.
 */
export async function countReached(
  db: Db,
  tenantId: number,
  channelId: number,
  portfolioId: string | null,
): Promise<number> {
  const since = sql`now() - interval '24 hours'`;
  const { rows } = await sql<{ count: number }>`
    with of_portfolio as materialized (
      select ch.id from channels ch where ch.tenant_id = ${tenantId} and (ch.id = ${channelId}::bigint or ch.portfolio_id = ${portfolioId}::text)
    )
    select count(*)::int as count from (
      select max(d.contact_id) from (
        select m.id, m.contact_id from messages m
        where m.tenant_id = ${tenantId} and m.id >= uuid_at(${since}) and m.direction = 'outbound' and m.type = 'template'
          and (m.scheduled_at is null or m.scheduled_at <= now()) and m.channel_id = any(array(select id from of_portfolio))
        union all
        select u.message_id, null from message_updates u
        where u.tenant_id = ${tenantId} and u.status in ('cancelled', 'failed') and u.message_id >= uuid_at(${since})
      ) d group by d.id having count(*) = 1 and max(d.contact_id) is not null
      union
      select m.contact_id from (
        select u.message_id from message_updates u
        where u.tenant_id = ${tenantId} and u.updated_at >= ${since} and u.message_id < uuid_at(${since}) offset 0) u
      cross join lateral (
        select m.contact_id from messages m where m.tenant_id = ${tenantId} and m.id = u.message_id
          and m.direction = 'outbound' and m.type = 'template' and m.channel_id = any(array(select id from of_portfolio)) offset 0) m
      cross join lateral (
        select from message_states s
        where s.tenant_id = ${tenantId} and s.message_id = u.message_id and s.sent_at >= ${since} and s.status <> 'failed' offset 0) s
    ) people`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Forgets the failure that made a campaign pause. */
export async function clearStopCode(trx: Db, tenantId: number, campaignId: number): Promise<void> {
  await trx
    .updateTable('campaign_progress')
    .set({ stop_code: null })
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', campaignId)
    .where('stop_code', 'is not', null)
    .execute();
}
