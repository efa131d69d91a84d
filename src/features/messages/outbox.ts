import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import type { PublicMessage } from './message.ts';

/** The statements of the queue. All are of one lane: a tenant's channel. */

export interface Claimed {
  readonly message_id: string;
  readonly contact_id: number;
  readonly attempts: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: PublicMessage['content'];
  readonly reply_to_wamid: string | null;
  readonly created_at: string;
  readonly phone: string | null;
  /** The network's id of a person whose number it does not show. */
  readonly network_user_id: string | null;
  readonly opted_out_at: string | null;
  /** The content as it is really sent, where the message may not show it. */
  readonly sealed: Buffer | null;
}

/**
 * Takes up to `limit` due messages, oldest first, and only the oldest open one of each contact, so that a person gets
 * them in order. Until `leaseUntil` nobody else takes them: long enough for the attempt, and for the status webhook that
 * would settle it, should this process die in between.
 *
 * `dispatched_at` stands while it is not known whether the network took the message. Such a one is not tried again before
 * all webhooks are read that came in its time: the one that settles it may be among them, however long the inbox is.
 */
export async function claimDue(
  db: Db,
  tenantId: number,
  channelId: number,
  limit: number,
  nowIso: string,
  leaseUntil: string,
): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with due as (
      select o.message_id, o.contact_id from outbox o
      where o.tenant_id = ${tenantId} and o.channel_id = ${channelId} and o.next_attempt_at <= ${nowIso}::timestamptz
        and not exists (
          select from outbox e
          where e.tenant_id = ${tenantId} and e.contact_id = o.contact_id and e.channel_id = ${channelId} and e.message_id < o.message_id)
        and (o.dispatched_at is null or not exists (
          select from inbound_webhooks w
          where w.tenant_id = ${tenantId} and w.processed_at is null and w.attempts = 0 and w.received_at <= o.next_attempt_at))
      order by o.message_id limit ${limit} for update of o skip locked
    ), claimed as (
      update outbox o set attempts = o.attempts + 1, dispatched_at = ${nowIso}::timestamptz, next_attempt_at = ${leaseUntil}::timestamptz
      from due where o.tenant_id = ${tenantId} and o.channel_id = ${channelId} and o.message_id = due.message_id
      returning o.message_id, o.contact_id, o.attempts, o.sealed
    )
    select d.message_id, d.contact_id, d.attempts, m.type, m.body, m.content, m.reply_to_wamid, m.created_at, c.phone, c.network_user_id, c.opted_out_at, d.sealed
    from claimed d
    join messages m on m.tenant_id = ${tenantId} and m.id = d.message_id
    join contacts c on c.tenant_id = ${tenantId} and c.id = d.contact_id
    order by d.message_id`.execute(db);
  return rows;
}

export interface Postponed {
  readonly messageId: string;
  /** The attempt that this comes of: where another process has begun a later one, it stands. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly until: string;
  /** False: nothing was tried, so the attempt is not counted. */
  readonly attempted: boolean;
  /** Whether the network may have taken it. */
  readonly inDoubt: boolean;
}

export async function postpone(
  db: Db,
  tenantId: number,
  channelId: number,
  postponed: readonly Postponed[],
): Promise<void> {
  if (postponed.length === 0) return;
  await sql`
    update outbox o set next_attempt_at = p.until, attempts = o.attempts - case when p.attempted then 0 else 1 end,
      dispatched_at = case when p.in_doubt then o.dispatched_at end
    from unnest(${postponed.map(row => row.messageId)}::uuid[], ${postponed.map(row => row.until)}::timestamptz[],
                ${postponed.map(row => row.attempted)}::boolean[], ${postponed.map(row => row.attempts)}::integer[],
                ${postponed.map(row => row.inDoubt)}::boolean[])
      as p (message_id, until, attempted, attempts, in_doubt)
    where o.tenant_id = ${tenantId} and o.channel_id = ${channelId} and o.message_id = p.message_id and o.attempts = p.attempts`.execute(
    db,
  );
}

/** When the lane has something to do next; undefined when it is empty. What stands behind an earlier message to its contact waits for that. */
export async function nextDue(db: Db, tenantId: number, channelId: number): Promise<string | undefined> {
  const { rows } = await sql<{ next: string | null }>`
    select min(o.next_attempt_at) as next from outbox o
    where o.tenant_id = ${tenantId} and o.channel_id = ${channelId}
      and not exists (
        select from outbox e
        where e.tenant_id = ${tenantId} and e.contact_id = o.contact_id and e.channel_id = ${channelId} and e.message_id < o.message_id)`.execute(
    db,
  );
  return rows[0]?.next ?? undefined;
}

/** Moves what the network may have taken to a later time, where it is due before. */
export async function postponeInDoubt(db: Db, untilIso: string): Promise<void> {
  await sql`
    /* cross-tenant: at the start of a process, whosever they are */
    update outbox set next_attempt_at = ${untilIso}::timestamptz where dispatched_at is not null and next_attempt_at < ${untilIso}::timestamptz`.execute(
    db,
  );
}

/** Takes settled messages out of the queue. @returns the channels on which something left */
export async function deleteFromOutbox(trx: Db, tenantId: number, messageIds: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ channel_id: number }>`
    delete from outbox o using messages m
    where o.tenant_id = ${tenantId} and m.tenant_id = ${tenantId} and m.id = any(${messageIds}::uuid[])
      and o.channel_id = m.channel_id and o.message_id = m.id
    returning o.channel_id`.execute(trx);
  return [...new Set(rows.map(row => row.channel_id))];
}

/** Lanes that have something due: the sweep that finds lost wake-ups. */
export async function dueLanes(db: Db, nowIso: string): Promise<{ tenant_id: number; channel_id: number }[]> {
  const { rows } = await sql<{ tenant_id: number; channel_id: number }>`
    /* cross-tenant: the sweep wakes lanes, it reads no message */
    select c.tenant_id, c.id as channel_id from channels c
    where c.status = 'active' and exists (
      select from outbox o where o.tenant_id = c.tenant_id and o.channel_id = c.id and o.next_attempt_at <= ${nowIso}::timestamptz)`.execute(
    db,
  );
  return rows;
}
