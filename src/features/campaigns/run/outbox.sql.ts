import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import type { Whereabouts } from '../../../platform/time-zones.ts';
import { presentIdentity } from '../../contacts/columns.ts';
import { STATE } from '../recipients/recipient.ts';

/** Messages of campaigns that wait to be sent on a channel, counted up to a limit. @param priority of campaigns in the outbox */
export async function countBacklog(
  db: Db,
  tenantId: number,
  channelId: number,
  priority: number,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from outbox o where o.tenant_id = ${tenantId} and o.channel_id = ${channelId}::bigint and o.priority = ${priority}::smallint
        and o.next_attempt_at is not null limit ${limit}::integer) q`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Messages of a campaign that wait to be sent, with the contacts that get them: after a merge, the survivors. */
export async function findWaitingMessages(
  db: Db,
  tenantId: number,
  campaignId: number,
  channelId: number,
  priority: number,
): Promise<{ readonly message_id: string; readonly contact_id: number }[]> {
  const { rows } = await sql<{ message_id: string; contact_id: number }>`
    select r.message_id, o.contact_id from outbox o
    join campaign_recipients r on r.tenant_id = ${tenantId} and r.message_id = o.message_id and r.campaign_id = ${campaignId}
    where o.tenant_id = ${tenantId} and o.channel_id = ${channelId}::bigint and o.priority = ${priority}::smallint`.execute(
    db,
  );
  return rows;
}

export interface WaitingPerson extends Whereabouts {
  readonly message_id: string;
}

/** The same, with the data from which the time zones of their recipients are derived. */
export async function findWaitingPeople(
  db: Db,
  tenantId: number,
  campaignId: number,
  channelId: number,
  priority: number,
): Promise<WaitingPerson[]> {
  const { rows } = await sql<WaitingPerson>`
    select o.message_id, c.time_zone as "timeZone", c.phone,
      case when c.phone is null then ${presentIdentity(tenantId, 'user_id')} end as "userId"
    from outbox o
    join campaign_recipients r on r.tenant_id = ${tenantId} and r.message_id = o.message_id and r.campaign_id = ${campaignId}
    join contacts c on c.tenant_id = ${tenantId} and c.id = o.contact_id
    where o.tenant_id = ${tenantId} and o.channel_id = ${channelId}::bigint and o.priority = ${priority}::smallint`.execute(
    db,
  );
  return rows;
}

/**
 * Those of campaign messages whose person gets an earlier message of the campaign: two recipients were merged after their messages were
 * made. A merge moves the messages to the survivor, and leaves recipients their former ids. Merges and messages are read by their keys,
 * whatever their statistics say: an empty table would be read by another index, whole for each message.
 */
export async function findMergedMessages(
  db: Db,
  tenantId: number,
  messages: readonly { readonly message_id: string; readonly contact_id: number }[],
): Promise<string[]> {
  const { rows } = await sql<{ message_id: string }>`
    select w.message_id
    from unnest(${messages.map(one => one.message_id)}::uuid[], ${messages.map(one => one.contact_id)}::bigint[]) as w (message_id, contact_id)
    where exists (
      select from (
        select g.former_id, g.contact_id, g.undone_at from contact_merges g
        where g.tenant_id = ${tenantId} and g.contact_id = w.contact_id offset 0) g
      cross join lateral (
        select r.campaign_id from campaign_recipients r where r.tenant_id = ${tenantId} and r.message_id = w.message_id offset 0) r
      join campaign_recipients s on s.tenant_id = ${tenantId} and s.campaign_id = r.campaign_id
        and s.contact_id = any(array[g.former_id, g.contact_id]) and s.message_id < w.message_id and s.state < ${sql.lit(STATE.failed)}
      where g.undone_at is null)`.execute(db);
  return rows.map(row => row.message_id);
}
