import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { TIMELINE } from '../../../database/timeline.sql.ts';
import type { LaneTurn } from '../../../lanes/lane.ts';
import type { Lanes } from '../../../lanes/runtime.ts';
import { type Backlog, inAccount } from '../../../lanes/store/backlog.sql.ts';
import type { PublicMessage } from '../message.ts';
import { type ConsentedCategory, optedOutOf } from '../send/recipient.sql.ts';
import { type Priority, SCHEDULED } from './lane.ts';
import type { QueueFront } from './lane-memory.ts';

/**
 * The statements of the outbox. Times are intervals from the database's clock, because the clocks of processes differ. Functions of
 * the database do the work, with plans that do not depend on statistics. The current definition is in the highest migration that
 * names the function.
 */

export interface Claimed {
  readonly message_id: string;
  readonly contact_id: number;
  readonly priority: Priority;
  readonly attempts: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: PublicMessage['content'];
  readonly reply_to_wamid: string | null;
  /** Since its first attempt. */
  readonly age_ms: number;
  readonly phone: string | null;
  /** The business-scoped user id in the channel's portfolio, for a contact without a number. */
  readonly user_id: string | null;
  readonly opted_out_at: string | null;
  /** The encrypted content to send, if the stored content hides a secret. */
  readonly sealed: Buffer | null;
}

const interval = (ms: number) => sql`${ms}::double precision * interval '1 ms'`;

interface ClaimedRow extends Claimed {
  readonly is_current: boolean;
  readonly lane: number;
  readonly next_attempt_at: string;
}

/** The claim of one lane. */
export interface ClaimRequest {
  readonly tenantId: number;
  readonly channelId: number;
  readonly limit: number;
  readonly front: QueueFront;
}

/**
 * Claims due messages for several lanes: up to the limit of each, in the order of priority, at most one per contact and priority at
 * a time. None on another timeline of the WAL than that of `lanes`.
 * @param inDoubtMs time in which the result of an interrupted call is expected from its status webhook
 * @returns the claimed messages of each request, in the order of requests
 */
export async function claimDue(
  db: Db,
  requests: readonly ClaimRequest[],
  inDoubtMs: number,
  lanes: Pick<Lanes, 'timeline' | 'suspectPromotion'>,
): Promise<Claimed[][]> {
  const claimed = requests.map((): ClaimedRow[] => []);
  const { timeline } = lanes;
  if (timeline === undefined) return claimed;
  const fronts = requests.map(({ front }) => front.position());
  const isCurrent = timeline === null ? sql`true` : sql`${TIMELINE} = ${timeline}::integer`;
  const { rows } = await sql<ClaimedRow | { readonly is_current: boolean; readonly lane: null }>`
    select t.is_current, c.* from (select ${isCurrent} as is_current offset 0) t
    left join claim_outbox(case when t.is_current then ${requests.map(request => request.tenantId)}::bigint[] else '{}' end,
      ${requests.map(request => request.channelId)}::bigint[], ${requests.map(request => request.limit)}::integer[], ${interval(inDoubtMs)},
      ${fronts.flatMap(({ since }) => since)}::timestamptz[], ${fronts.map(({ emptiedMsAgo }) => emptiedMsAgo)}::double precision[]) c on true`.execute(
    db,
  );
  if (rows[0]?.is_current === false) {
    lanes.suspectPromotion();
    return claimed;
  }
  // A claim of nothing has one row without a lane.
  for (const row of rows) if (row.lane !== null) claimed[row.lane - 1]?.push(row);
  for (const [index, position] of fronts.entries()) {
    const { front, limit } = requests[index] as ClaimRequest;
    front.advance(claimed[index] ?? [], limit, position);
  }
  return claimed;
}

/**
 * Finds messages whose contact has opted out of their template's category. The template is found as the network finds it, by name and
 * language: it may have been created again, under another id. One that is gone from here, but perhaps not from the network, counts as
 * of both categories.
 * @returns the category by message id
 */
export async function findOptedOut(
  db: Db,
  {
    tenantId,
    wabaId,
    messageIds,
  }: { readonly tenantId: number; readonly wabaId: string; readonly messageIds: readonly string[] },
): Promise<Map<string, ConsentedCategory>> {
  const { rows } = await sql<{ id: string; category: ConsentedCategory }>`
    select m.id, k.category from messages m
    -- Behind offset 0, by the keys: whatever the planner believes of the tables.
    left join lateral (
      select n.category from templates n
      where n.tenant_id = ${tenantId} and n.waba_id = ${wabaId} and n.name = m.content->>'name' and n.language = m.content->'language'->>'code'
      offset 0) t on true
    cross join lateral unnest(case when t.category is null then array['marketing', 'utility'] else array[lower(t.category)] end) as k (category)
    cross join lateral (select h.id from contacts h where h.tenant_id = ${tenantId} and h.id = m.contact_id offset 0) c
    where m.tenant_id = ${tenantId} and m.id = any(${messageIds}::uuid[]) and k.category = any('{marketing,utility}')
      and ${optedOutOf(tenantId, sql`k.category`)} is not null`.execute(db);
  return new Map(rows.map(row => [row.id, row.category]));
}

export interface Postponed {
  readonly messageId: string;
  /** Number of the attempt. A later attempt of another process takes precedence. */
  readonly attempts: number;
  /** From now. */
  readonly afterMs: number;
  /** False: no call was made, so the attempt is not counted. */
  readonly attempted: boolean;
  /** Whether the network may have accepted it. */
  readonly inDoubt: boolean;
  /** For people. */
  readonly reason?: string | undefined;
}

/** Writes postponements, except those of lanes that were taken over. */
export async function postpone(db: Db, postponed: readonly (Postponed & { readonly lane: LaneTurn })[]): Promise<void> {
  if (postponed.length === 0) return;
  const lanes = postponed.map(row => row.lane);
  await sql`
    /* cross-tenant: a process drains lanes of all tenants */
    select postpone_outbox(array_agg(p.tenant_id), array_agg(p.message_id), array_agg(p.number), array_agg(p.after_ms), array_agg(p.attempted),
      array_agg(p.in_doubt), array_agg(p.reason))
    from unnest(${lanes.map(lane => lane.tenantId)}::bigint[], ${postponed.map(row => row.messageId)}::uuid[],
      ${postponed.map(row => row.attempts)}::integer[], ${postponed.map(row => row.afterMs)}::double precision[],
      ${postponed.map(row => row.attempted)}::boolean[], ${postponed.map(row => row.inDoubt)}::boolean[],
      ${postponed.map(row => row.reason ?? null)}::text[],
      ${lanes.map(lane => lane.queue)}::text[], ${lanes.map(lane => lane.key)}::text[], ${lanes.map(lane => lane.epoch)}::bigint[])
      as p (tenant_id, message_id, number, after_ms, attempted, in_doubt, reason, queue, key, epoch)
    where exists (select from lanes l
      where l.tenant_id = p.tenant_id and l.queue = p.queue and l.key = p.key and l.epoch = p.epoch)`.execute(db);
}

/**
 * Restarts the wait for the statuses of messages that the network may have accepted, of one lane or of all: after a time in which
 * statuses could not be stored, or after a take-over.
 */
export async function extendDoubt(db: Db, lane?: LaneTurn): Promise<void> {
  if (lane) {
    await sql`select extend_doubt(${lane.tenantId}::bigint, split_part(${lane.key}, ':', 2)::bigint)`.execute(db);
    return;
  }
  await sql`
    /* cross-tenant: after a time in which no statuses could be stored */
    with doubtful as materialized (
      select tenant_id, message_id from outbox
      where dispatched_at is not null and next_attempt_at is not null order by position for no key update
    )
    update outbox o set dispatched_at = clock_timestamp() from doubtful d
    where o.tenant_id = d.tenant_id and o.message_id = d.message_id`.execute(db);
}

/**
 * Restarts the 24 hours in which a message that was tried is retried, from its next attempt, when its channel is resumed: nothing was
 * tried while it was paused. Lock order as in `lockTurns`. Rows behind others were not tried.
 */
export async function beginTriesAnew(trx: Db, tenantId: number, channelId: number): Promise<void> {
  await sql`select begin_tries_anew(${tenantId}::bigint, ${channelId}::bigint)`.execute(trx);
}

/** Milliseconds until a message of the lane is due; 0 or less: now; undefined if the lane is empty. */
export async function nextDueMs(
  db: Db,
  tenantId: number,
  channelId: number,
  inDoubtMs: number,
  front: QueueFront,
): Promise<number | undefined> {
  const { since, emptiedMsAgo } = front.position();
  const { rows } = await sql<{ ms: number | null }>`
    select next_due_in_outbox(${tenantId}, ${channelId}, ${interval(inDoubtMs)}, ${since}::timestamptz[], ${emptiedMsAgo}::double precision) as ms`.execute(
    db,
  );
  return rows[0]?.ms ?? undefined;
}

/** A message of a tenant. */
export interface MessageRef {
  readonly tenantId: number;
  readonly messageId: string;
}

export interface Settled {
  readonly tenant_id: number;
  readonly message_id: string;
  readonly channel_id: number;
  /** Whether it unblocked a later message. */
  readonly is_released: boolean;
}

/**
 * Locks rows of the outbox for `settle`: those of the messages, and those that are next for the same contacts. Lock order: message_states by tenant
 * and id, then the outbox by position, to avoid deadlocks.
 * @param which `waiting` excludes messages that were, or may have been, submitted to the network
 * @returns the database's clock
 */
export async function lockTurns(
  trx: Db,
  tenantId: number,
  messageIds: readonly string[],
  which: 'all' | 'waiting',
): Promise<string> {
  const { rows } = await sql<{ now: string }>`
    select lock_turns(${tenantsOf(tenantId, messageIds)}, ${messageIds}::uuid[], ${which === 'waiting'}),
      clock_timestamp()::timestamptz(3) as now`.execute(trx);
  return rows[0]?.now ?? '';
}

/**
 * Deletes settled messages from the outbox and unblocks the next messages of their contacts. Their states are locked before.
 * @param which `waiting` excludes messages that were, or may have been, submitted to the network; their turns are locked before
 *   (`lockTurns`)
 */
export async function settle(
  trx: Db,
  messages: readonly MessageRef[],
  which: 'all' | 'waiting' = 'all',
): Promise<Settled[]> {
  const { rows } = await sql<Settled>`
    select * from settle_outbox(${messages.map(message => message.tenantId)}::bigint[], ${messages.map(message => message.messageId)}::uuid[],
      ${which === 'waiting'})`.execute(trx);
  return rows;
}

/** Marks messages as not submitted to the network, while the outbox is held. Their states are locked before. */
export async function forgetDispatch(trx: Db, tenantId: number, messageIds: readonly string[]): Promise<void> {
  await trx
    .updateTable('outbox')
    .set({ dispatched_at: null })
    .where('tenant_id', '=', tenantId)
    .where('message_id', '=', eb => eb.fn.any(eb.val(messageIds)))
    .where('dispatched_at', 'is not', null)
    .execute();
}

/** The messages to cancel. */
export interface WaitingTarget {
  readonly messageIds: readonly string[];
}

/**
 * Finds the messages of a disconnected channel that were not submitted to the network, the last of the queue first. The channel is
 * read in the same statement: a message that was accepted after the number had been connected again is never among them.
 */
export async function findDisconnected(db: Db, tenantId: number, channelId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('outbox as o')
    .innerJoin('channels as c', join =>
      join.onRef('c.tenant_id', '=', 'o.tenant_id').onRef('c.id', '=', 'o.channel_id'),
    )
    .select('o.message_id')
    .where('o.tenant_id', '=', tenantId)
    .where('o.channel_id', '=', channelId)
    .where('o.dispatched_at', 'is', null)
    .where('c.status', '=', 'disconnected')
    .orderBy('o.position', 'desc')
    .execute();
  return rows.map(row => row.message_id);
}

/** Locks the states of messages that were not submitted to the network. @returns their ids, in order */
export async function lockWaiting(trx: Db, tenantId: number, { messageIds }: WaitingTarget): Promise<string[]> {
  const rows = await trx
    .selectFrom('outbox')
    .select('message_id')
    .where('tenant_id', '=', tenantId)
    .where('message_id', '=', eb => eb.fn.any(eb.val(messageIds)))
    .where('dispatched_at', 'is', null)
    .orderBy('message_id')
    .execute();
  const waiting = rows.map(row => row.message_id);
  if (waiting.length > 0)
    await sql`select lock_states(${tenantsOf(tenantId, waiting)}, ${waiting}::uuid[])`.execute(trx);
  return waiting;
}

/** @returns how many of the messages are cancelled */
export async function countCancelled(db: Db, tenantId: number, messageIds: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom('message_states')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('message_id', '=', eb => eb.fn.any(eb.val(messageIds)))
    .where('status', '=', 'cancelled')
    .executeTakeFirstOrThrow();
  return count;
}

/** The tenant, repeated for each message. */
const tenantsOf = (tenantId: number, messageIds: readonly string[]) =>
  sql`array_fill(${tenantId}::bigint, array[${messageIds.length}::integer])`;

/** Messages of a channel that the network may have accepted, without a status within `doubtMs`. */
export async function findDoubtful(
  db: Db,
  tenantId: number,
  channelId: number,
  doubtMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('outbox')
    .select('message_id')
    .where('tenant_id', '=', tenantId)
    .where('channel_id', '=', channelId)
    .where('dispatched_at', '<=', sql<string>`clock_timestamp() - ${interval(doubtMs)}`)
    .orderBy('message_id')
    .limit(limit)
    .execute();
  return rows.map(row => row.message_id);
}

/** Channels with due messages; see `Queue.dueLanes`. The cost depends on the number of lanes, not of messages. */
export const dueOutboxLanes = (inDoubtMs: number) => sql<{ tenant_id: number; key: string }>`
  select tenant_id, tenant_id || ':' || channel_id as key from due_outboxes(${sql.lit(inDoubtMs)}::double precision * interval '1 ms')`;

/** When the oldest message of a queue was accepted: ids are UUIDv7, which begin with milliseconds since 1970. */
const OLDEST_AT = sql`
    to_timestamp((('x' || substr(replace(min(message_id::text), '-', ''), 1, 12))::bit(48)::bigint) / 1000.0) as oldest_at`;

/** The backlog of each lane; see `listLanes`. */
export const outboxBacklog: Backlog = tenantId => sql`
  select tenant_id, tenant_id || ':' || channel_id as key, count(*) as count, ${OLDEST_AT}
  from outbox where ${inAccount(tenantId)} and priority < ${sql.lit(SCHEDULED)} group by tenant_id, channel_id`;

/** Backlog of a channel. */
export interface ChannelBacklog {
  readonly channel_id: number;
  readonly count: number;
  /** When the oldest of them was accepted. */
  readonly oldest_at: string;
}

/** The backlogs of channels that have one, with scheduled messages, unlike `outboxBacklog`. */
export async function readBacklogs(db: Db, tenantId: number, channelIds: readonly number[]): Promise<ChannelBacklog[]> {
  const { rows } = await sql<ChannelBacklog>`
    select channel_id, count(*) as count, ${OLDEST_AT}
    from outbox where tenant_id = ${tenantId} and channel_id = any(${channelIds}::bigint[]) group by channel_id`.execute(
    db,
  );
  return rows;
}

/** Restores lost turns. None occur unless the table was changed by hand. @returns the number restored */
export async function repairTurns(db: Db): Promise<number> {
  const { rows } = await sql<{ repaired: number }>`
    /* cross-tenant: housekeeping of a queue */
    select repair_turns() as repaired`.execute(db);
  return rows[0]?.repaired ?? 0;
}
