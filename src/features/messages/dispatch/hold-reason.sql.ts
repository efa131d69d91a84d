import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { OUTBOX, SCHEDULED } from './lane.ts';

/** Facts that hold back a queued message. */
export interface HoldFacts {
  readonly message_id: string;
  /** Whether the database was restored and the operator has not released the outbox. */
  readonly is_outbox_held: boolean;
  readonly channel_status: string;
  readonly channel_reason: string | null;
  /** Why its next attempt was postponed. */
  readonly hold_reason: string | null;
  /** The network's error for which the channel's lane waits, or `TENANT_SUSPENDED`. */
  readonly lane_error: string | null;
  /** Whether an earlier message to the same person comes first. */
  readonly is_behind: boolean;
  /** Whether it was submitted more than half a minute ago without a known outcome. */
  readonly is_in_doubt: boolean;
}

/** Reads why messages are held back. Messages outside the queue, and those whose scheduled time has not come, have no row. */
export async function findHoldFacts(db: Db, tenantId: number, messageIds: readonly string[]): Promise<HoldFacts[]> {
  const { rows } = await sql<HoldFacts>`
    select o.message_id, exists (select from log_origin where outbox_held_at is not null) as is_outbox_held,
      c.status as channel_status, c.status_reason as channel_reason,
      case when o.next_attempt_at > clock_timestamp() then o.hold_reason end as hold_reason,
      -- A failure of the lane itself is for the operator's log.
      (select l.error from lanes l
       where l.tenant_id = ${tenantId} and l.queue = ${OUTBOX} and l.key = ${`${tenantId}:`} || o.channel_id and l.failures = 0
         and l.due_at > clock_timestamp()) as lane_error,
      o.next_attempt_at is null and o.priority <> ${sql.lit(SCHEDULED)} as is_behind,
      coalesce(o.dispatched_at < clock_timestamp() - interval '30 s', false) as is_in_doubt
    from outbox o
    -- Behind offset 0, or the messages are looked up once for each channel of the tenant.
    cross join lateral (select c.status, c.status_reason from channels c where c.tenant_id = ${tenantId} and c.id = o.channel_id offset 0) c
    where o.tenant_id = ${tenantId} and o.message_id = any(${messageIds}::uuid[])
      and (o.priority <> ${sql.lit(SCHEDULED)} or o.due_at <= clock_timestamp())`.execute(db);
  return rows;
}
