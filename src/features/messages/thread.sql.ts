import { sql } from 'kysely';
import { NIL_UUID } from '../../core/ids.ts';
import type { Db } from '../../database/database.ts';
import { anyOf } from '../../database/expressions.ts';
import type { MessageRow } from './message.ts';
import { messageColumns } from './messages.sql.ts';

/** A conversation or a group chat. */
export interface ThreadRef {
  readonly column: 'conversation_id' | 'group_chat_id';
  readonly id: number;
}

/** Which rows of a thread to read: those of one side of an id, or around it. */
export interface ThreadRange {
  /** Rows after this one (null: from the start), at most `ahead`. */
  readonly after: string | null;
  readonly ahead: number;
  /** Rows before this one (null: from the end), at most `back`. */
  readonly before: string | null;
  readonly back: number;
  /** Whether the row at `after` is among those ahead. */
  readonly isInclusive: boolean;
}

export interface ThreadRow extends MessageRow {
  readonly has_next: boolean;
  readonly has_previous: boolean;
}

/**
 * A part of a thread without reactions, oldest first, in one statement. Each side reads one index range and stops. What lies beyond it is
 * looked up once and in order: `exists`, for each row of the part, read the rest of a thread of 90,000 messages 80 times (0.45 s). Rows
 * are read one by one: for a list of ids, a plan on the statistics of empty tables reads all messages of the tenant.
 * @returns the rows; each says whether any precede and follow the part
 */
export async function readThread(
  db: Db,
  tenantId: number,
  thread: ThreadRef,
  { after, ahead, before, back, isInclusive }: ThreadRange,
): Promise<ThreadRow[]> {
  const column = sql.ref(`m.${thread.column}`);
  const from = sql.raw(isInclusive ? '>=' : '>');
  const rows = sql`from messages m where m.tenant_id = ${tenantId} and ${column} = ${thread.id} and m.type <> 'reaction'`;
  const { rows: found } = await sql<ThreadRow>`
    with ahead as materialized (
      select m.id ${rows} and m.id ${from} coalesce(${after}::uuid, ${sql.lit(NIL_UUID)}) order by m.id limit ${ahead}
    ), back as materialized (
      select m.id ${rows} and m.id < coalesce(${before}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') order by m.id desc limit ${back}
    ), page as materialized (
      select array(select id from ahead union all select id from back) as ids,
        (select id from (select id from ahead union all select id from back) e order by id limit 1) as first_id,
        (select id from (select id from ahead union all select id from back) e order by id desc limit 1) as last_id
    ), ends as materialized (
      select p.ids, (select true ${rows} and m.id > p.last_id order by m.id limit 1) is not null as has_next,
        (select true ${rows} and m.id < p.first_id order by m.id desc limit 1) is not null as has_previous
      from page p
    )
    select ${messageColumns()}, p.has_next, p.has_previous
    from ends p cross join unnest(p.ids) as i (id)
    cross join lateral (select k.* from messages k where k.tenant_id = ${tenantId} and k.id = i.id offset 0) m
    cross join lateral (select k.* from message_states k where k.tenant_id = ${tenantId} and k.message_id = i.id offset 0) s
    order by m.id`.execute(db);
  return found;
}

/** The last message of group chats, without reactions. */
export async function getLastOfGroupChats(
  db: Db,
  tenantId: number,
  groupChatIds: readonly number[],
): Promise<{ readonly group_chat_id: number; readonly message_id: string; readonly created_at: string }[]> {
  const { rows } = await sql<{ group_chat_id: number; message_id: string; created_at: string }>`
    select g.id as group_chat_id, m.id as message_id, m.created_at
    from unnest(${groupChatIds}::bigint[]) as g (id)
    cross join lateral (
      select m.id, m.created_at from messages m
      where m.tenant_id = ${tenantId} and m.group_chat_id = g.id and m.type <> 'reaction' order by m.id desc limit 1) m`.execute(
    db,
  );
  return rows;
}

/** The group chats of messages that are in one. */
export const getGroupChatsOf = (
  db: Db,
  tenantId: number,
  messageIds: readonly string[],
): Promise<{ id: string; group_chat_id: number | null }[]> =>
  db
    .selectFrom('messages')
    .select(['id', 'group_chat_id'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(messageIds))
    .where('group_chat_id', 'is not', null)
    .execute();

export async function countThread(db: Db, tenantId: number, { column, id }: ThreadRef): Promise<number> {
  const { count } = await db
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where(column, '=', id)
    .where('type', '<>', sql.lit('reaction'))
    .executeTakeFirstOrThrow();
  return count;
}
