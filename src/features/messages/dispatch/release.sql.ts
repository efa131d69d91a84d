import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { SCHEDULED } from './lane.ts';

/** The queued messages of one channel. */
export interface Backlog {
  readonly tenant: string;
  readonly channel: string;
  readonly waiting: number;
  /** Number of messages submitted to the network without a response so far. */
  readonly in_doubt: number;
  readonly oldest: string;
  readonly newest: string;
}

export async function readBacklog(db: Db): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    /* cross-tenant: counts and times for the operator */
    select t.slug as tenant, c.name as channel, count(*) as waiting, count(o.dispatched_at) as in_doubt,
      min(m.created_at) as oldest, max(m.created_at) as newest
    from outbox o
    join tenants t on t.tenant_id = o.tenant_id
    join channels c on c.tenant_id = o.tenant_id and c.id = o.channel_id
    join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id
    group by t.slug, c.name order by t.slug, c.name`.execute(db);
  return rows;
}

/** Messages of one tenant that were accepted before an instant, and not scheduled for later than that. */
export interface QueuedBefore {
  readonly tenantId: number;
  readonly messageIds: readonly string[];
}

/** The messages of the next tenant, at most `limit`; undefined if there are none. */
export async function findQueuedBefore(db: Db, before: string, limit: number): Promise<QueuedBefore | undefined> {
  const isQueuedBefore = sql`m.created_at < ${before}::timestamptz
    and (o.priority <> ${sql.lit(SCHEDULED)} or o.due_at < ${before}::timestamptz)`;
  const { rows } = await sql<{ tenant_id: number; ids: string[] }>`
    /* cross-tenant: the operator's decision concerns the whole outbox; one tenant at a time */
    select q.tenant_id, array_agg(q.message_id::text order by q.message_id) as ids
    from (
      select o.tenant_id, o.message_id from outbox o
      join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id and ${isQueuedBefore}
      where o.tenant_id = (
        select o.tenant_id from outbox o
        join messages m on m.tenant_id = o.tenant_id and m.id = o.message_id and ${isQueuedBefore}
        order by o.tenant_id limit 1)
      order by o.message_id limit ${limit}
    ) q group by q.tenant_id`.execute(db);
  const [row] = rows;
  return row && { tenantId: row.tenant_id, messageIds: row.ids };
}
