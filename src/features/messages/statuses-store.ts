import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './message.ts';

const columns = sql.raw(MESSAGE_COLUMNS.map(column => `m.${column}`).join(', '));

/** A status comes at most 30 days after its message (the network's time to live), so only partitions since then are asked. */
export async function findIdsByWamid(
  db: Db,
  tenantId: number,
  wamids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; wamid: string }>`
    select id, wamid from messages
    where tenant_id = ${tenantId} and wamid = any(${wamids}::text[]) and direction = 'outbound' and id >= uuid_at(now() - interval '40 days')`.execute(
    db,
  );
  return new Map(rows.map(row => [row.wamid, row.id]));
}

/** Locks sent messages in the order of their ids, so that two batches never wait for one another. */
export async function lockOutbound(trx: Db, tenantId: number, ids: readonly string[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${columns} from messages m
    where m.tenant_id = ${tenantId} and m.id = any(${ids}::uuid[]) and m.direction = 'outbound' order by m.id for update`.execute(
    trx,
  );
  return rows;
}

/** The ids stand in it twice: by the joined ones alone the planner read the whole of a partition of 60,000 rows, and every other partition. */
export async function writeStatuses(trx: Db, tenantId: number, messages: readonly MessageRow[]): Promise<void> {
  const pick = <K extends keyof MessageRow>(name: K) => messages.map(message => message[name]);
  const errors = messages.map(message => message.error && JSON.stringify(message.error));
  const ids = pick('id');
  await sql`
    update messages m set status = u.status, wamid = u.wamid, error = u.error, sent_at = u.sent_at, delivered_at = u.delivered_at,
      read_at = u.read_at, failed_at = u.failed_at, updated_at = u.updated_at
    from unnest(${ids}::uuid[], ${pick('status')}::text[], ${pick('wamid')}::text[], ${errors}::jsonb[], ${pick('sent_at')}::timestamptz[],
                ${pick('delivered_at')}::timestamptz[], ${pick('read_at')}::timestamptz[], ${pick('failed_at')}::timestamptz[],
                ${pick('updated_at')}::timestamptz[])
      as u (id, status, wamid, error, sent_at, delivered_at, read_at, failed_at, updated_at)
    where m.tenant_id = ${tenantId} and m.id = u.id and m.id = any(${ids}::uuid[])`.execute(trx);
}
