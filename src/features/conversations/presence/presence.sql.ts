import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { crossTenant } from '../../../database/expressions.ts';
import { PRESENT_MS, type Presence, TYPING_MS } from './presence.ts';

/** A session of a staff member. */
export interface PresentSession {
  readonly staffId: number;
  readonly sessionId: number;
}

/** Presence of a session. */
export interface SessionState {
  readonly isAway: boolean;
  readonly conversationId: number | null;
  /** Undefined: as before, if the conversation is the same. */
  readonly isTyping: boolean | undefined;
}

/** Previous presence of a session. */
export interface SeenSession {
  readonly conversation_id: number | null;
  readonly is_typing: boolean;
}

/** Stores the presence of a session for another `PRESENT_MS`. @returns the earlier presence; undefined: none */
export async function storePresence(
  db: Db,
  tenantId: number,
  { staffId, sessionId }: PresentSession,
  { isAway, conversationId, isTyping }: SessionState,
): Promise<SeenSession | undefined> {
  const { rows } = await sql<SeenSession>`
    with before as materialized (
      select p.conversation_id, coalesce(p.typing_until > clock_timestamp(), false) as is_typing, p.expires_at > clock_timestamp() as is_present
      from staff_presence p where p.tenant_id = ${tenantId} and p.staff_id = ${staffId} and p.session_id = ${sessionId} for update
    ), stored as (
      insert into staff_presence as p (tenant_id, staff_id, session_id, is_away, conversation_id, typing_until, expires_at)
      values (${tenantId}::bigint, ${staffId}::bigint, ${sessionId}::bigint, ${isAway}::boolean, ${conversationId}::bigint,
        case when ${isTyping ?? false}::boolean then clock_timestamp() + ${TYPING_MS}::float8 * interval '1 ms' end,
        clock_timestamp() + ${PRESENT_MS}::float8 * interval '1 ms')
      on conflict (tenant_id, staff_id, session_id) do update set is_away = excluded.is_away, conversation_id = excluded.conversation_id,
        typing_until = case when ${isTyping === undefined}::boolean and p.conversation_id = excluded.conversation_id then p.typing_until
          else excluded.typing_until end,
        expires_at = excluded.expires_at
      where p.tenant_id = excluded.tenant_id
    )
    select b.conversation_id, b.is_typing from before b where b.is_present`.execute(db);
  return rows[0];
}

/** Removes the presence of a session. @returns the earlier presence; undefined: none */
export async function forgetPresence(
  db: Db,
  tenantId: number,
  { staffId, sessionId }: PresentSession,
  /** Only if it shows this conversation. */
  conversationId?: number,
): Promise<SeenSession | undefined> {
  const { rows } = await sql<SeenSession>`
    delete from staff_presence p
    where p.tenant_id = ${tenantId} and p.staff_id = ${staffId} and p.session_id = ${sessionId}
      and (${conversationId === undefined}::boolean or p.conversation_id = ${conversationId ?? null}::bigint)
    returning p.conversation_id, coalesce(p.typing_until > clock_timestamp(), false) as is_typing`.execute(db);
  return rows[0];
}

/** A staff member who has a conversation open in one or several sessions. */
export interface ViewerRow {
  readonly staff_id: number;
  readonly is_typing: boolean;
  /** Time until this row may read differently without a change. */
  readonly lasts_ms: number;
}

/** Viewers of a conversation, by id. */
export async function listViewers(db: Db, tenantId: number, conversationId: number): Promise<ViewerRow[]> {
  const { rows } = await sql<ViewerRow>`
    select p.staff_id, bool_or(coalesce(p.typing_until > t.now, false)) as is_typing,
      extract(epoch from min(least(p.expires_at, case when p.typing_until > t.now then p.typing_until end)) - min(t.now))::float8 * 1000 as lasts_ms
    from staff_presence p cross join (select clock_timestamp() as now offset 0) t
    where p.tenant_id = ${tenantId} and p.conversation_id = ${conversationId} and p.expires_at > t.now
    group by p.staff_id order by p.staff_id`.execute(db);
  return rows;
}

/** Whether staff members have a page open; those who have none are missing. */
export async function getPresences(
  db: Db,
  tenantId: number,
  staffIds: readonly number[],
): Promise<Map<number, Presence>> {
  const { rows } = await sql<{ staff_id: number; presence: 'online' | 'away' }>`
    select p.staff_id, case when bool_and(p.is_away) then 'away' else 'online' end as presence
    from staff_presence p
    where p.tenant_id = ${tenantId} and p.staff_id = any(${staffIds}::bigint[]) and p.expires_at > clock_timestamp()
    group by p.staff_id`.execute(db);
  return new Map(rows.map(row => [row.staff_id, row.presence]));
}

/** Deletes rows of sessions that are gone. */
export async function deleteGone(db: Db): Promise<void> {
  await db
    .deleteFrom('staff_presence')
    .where('expires_at', '<', sql<string>`now()`)
    .modifyEnd(crossTenant('sessions of all tenants end'))
    .execute();
}
