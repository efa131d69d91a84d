import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { anyOf } from '../../../database/expressions.ts';
import { lockTenantUsage } from '../../../database/tenant-lock.ts';
import { WEIGHT } from '../columns.ts';
import type { ContactRow } from '../contact.ts';
import { MOVED_TABLES } from './moved-tables.ts';

/** A contact with the key of its number, which no API shows. */
export interface FullContact extends ContactRow {
  readonly phone_key: string | null;
}

export interface LockedContact {
  readonly id: number;
  readonly contact: FullContact;
  readonly weight: number;
}

const FULL = `to_jsonb(c) - 'tenant_id' - 'search_text'`;

/** Lock order: tenant_usage before contacts, contacts by id. Ids of merged contacts are not resolved. */
export async function lockForMerge(trx: Db, tenantId: number, ids: readonly number[]): Promise<LockedContact[]> {
  await lockTenantUsage(trx, tenantId);
  const { rows } = await sql<LockedContact>`
    select c.id, ${sql.raw(FULL)} as contact, ${sql.raw(WEIGHT)} as weight
    from contacts c where c.tenant_id = ${tenantId} and c.id = any(${ids}::bigint[]) order by c.id for update`.execute(
    trx,
  );
  return rows;
}

/** Locks the conversations of contacts. Lock order: after the contacts, by id, as in every change of several conversations. */
export async function lockConversationsOf(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> {
  await trx
    .selectFrom('conversations')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('contact_id', '=', anyOf(contactIds))
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** A conversation that became part of another one, by their ids. */
export interface Fold {
  readonly former: number;
  readonly kept: number;
  /** Whether both were counted in the same month. */
  readonly is_counted_twice: boolean;
}

/**
 * Merges conversations on the same channel, which are locked: the later service window applies, the conversation is counted once, and
 * the id of the former conversation resolves to the kept one. It is open if either was, keeps its assignee before the other's, and has
 * the unread messages, tags and notes of both.
 * @returns each former conversation with the kept one
 */
export async function foldConversations(
  trx: Db,
  tenantId: number,
  { mergeId, survivorId, formerId, month }: { mergeId: number; survivorId: number; formerId: number; month: string },
): Promise<Fold[]> {
  const { rows } = await sql<Fold>`
    with pairs as materialized (
      select f.id as former, k.id as kept,
        jsonb_build_object('conversation', to_jsonb(f) - 'tenant_id', 'kept', k.id, 'kept_window', k.window_expires_at,
          'tags', array(select t.tag_id from conversation_tags t where t.tenant_id = f.tenant_id and t.conversation_id = f.id),
          'notes', array(select n.id from notes n where n.tenant_id = f.tenant_id and n.conversation_id = f.id)) as note,
        f.window_expires_at, f.counted_month, f.status, f.snoozed_until, f.assignee_id, f.unread_count, f.waiting_since, f.last_message_id,
        f.last_activity_at,
        coalesce(f.counted_month >= ${month}::date and k.counted_month >= ${month}::date, false) as is_counted_twice
      from conversations f
      join conversations k on k.tenant_id = f.tenant_id and k.channel_id = f.channel_id and k.contact_id = ${survivorId}
      where f.tenant_id = ${tenantId} and f.contact_id = ${formerId}
    ), kept as (
      update conversations k set window_expires_at = greatest(k.window_expires_at, p.window_expires_at),
        counted_month = greatest(k.counted_month, p.counted_month),
        status = s.status, snoozed_until = case when s.status = 'snoozed' then case when k.status = 'snoozed' then k.snoozed_until else p.snoozed_until end end,
        assignee_id = coalesce(k.assignee_id, p.assignee_id), unread_count = k.unread_count + p.unread_count,
        waiting_since = least(k.waiting_since, p.waiting_since), last_message_id = greatest(k.last_message_id, p.last_message_id),
        last_activity_at = greatest(k.last_activity_at, p.last_activity_at)
      from pairs p join conversations w on w.tenant_id = ${tenantId} and w.id = p.kept
      cross join lateral (
        select s.status from (values ('open', 1), ('pending', 2), ('snoozed', 3), ('closed', 4)) s (status, place)
        where s.status in (w.status, p.status) order by s.place limit 1) s where k.tenant_id = ${tenantId} and k.id = p.kept
    ), moved as (
      update messages m set conversation_id = p.kept, contact_id = ${survivorId}::bigint
      from pairs p where m.tenant_id = ${tenantId} and m.conversation_id = p.former
      returning p.former, m.id
    ), owned as (
      update thread_owners o set conversation_id = p.kept from pairs p
      where o.tenant_id = ${tenantId} and o.conversation_id = p.former
        and not exists (select from thread_owners k where k.tenant_id = ${tenantId} and k.conversation_id = p.kept)
    ), tagged as (
      insert into conversation_tags (tenant_id, conversation_id, tag_id)
      select distinct t.tenant_id, p.kept, t.tag_id
      from pairs p join conversation_tags t on t.tenant_id = ${tenantId} and t.conversation_id = p.former
      on conflict do nothing
    ), annotated as (
      update notes n set conversation_id = p.kept from pairs p where n.tenant_id = ${tenantId} and n.conversation_id = p.former
    ), updated_events as (
      update events e set conversation_id = p.kept from pairs p where e.tenant_id = ${tenantId} and e.conversation_id = p.former
    ), noted as (
      insert into contact_merge_rows (tenant_id, merge_id, relation, ordinal, former, keys)
      select ${tenantId}::bigint, ${mergeId}::bigint, 'folded_conversations', p.former, p.note,
        array(select m.id::text from moved m where m.former = p.former)
      from pairs p
    ), resolved as (
      insert into conversation_merges (tenant_id, former_id, kept_id, merge_id)
      select ${tenantId}::bigint, p.former, p.kept, ${mergeId}::bigint from pairs p
    )
    select former, kept, is_counted_twice from pairs order by former`.execute(trx);
  if (rows.length === 0) return rows;
  const ids = rows.map(row => row.former);
  await trx.deleteFrom('conversations').where('tenant_id', '=', tenantId).where('id', '=', anyOf(ids)).execute();
  return rows;
}

/** A settlement takes milliseconds; a longer one probably waits for a lock of this transaction. */
const OUTBOX_LOCK_ATTEMPTS = 100;
const OUTBOX_PAUSE_MS = 20;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Locks the queued messages of contacts. Lock order: after the contacts, so that none are added, and once for all merges of a
 * transaction.
 *
 * Never waits while it holds some of the locks: settlements lock by position, but after a merge a message that has the turn may come after
 * the one that gets it next. Locking the contacts in settlements too was rejected: every status would write to a row of contacts, and
 * erasures lock contacts before states.
 * @throws the database's 55P03 if a message stays locked for two seconds
 */
export async function lockOutbox(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await sql`savepoint outbox_locks`.execute(trx);
    try {
      await trx
        .selectFrom('outbox')
        .select('message_id')
        .where('tenant_id', '=', tenantId)
        .where('contact_id', '=', anyOf(contactIds))
        .forUpdate()
        .noWait()
        .execute();
      await sql`release savepoint outbox_locks`.execute(trx);
      return;
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || attempt === OUTBOX_LOCK_ATTEMPTS) throw error;
      await sql`rollback to savepoint outbox_locks`.execute(trx);
      await sleep(OUTBOX_PAUSE_MS);
    }
  }
}

/** Moves the rows of all other tables to the survivor, and records which. Call it with the outbox locked. */
export async function moveRows(
  trx: Db,
  tenantId: number,
  { mergeId, survivorId, formerId }: { mergeId: number; survivorId: number; formerId: number },
): Promise<void> {
  const moves = MOVED_TABLES.map(
    ({ table, key }) => sql`${sql.ref(`moved_${table}`)} as (
      update ${sql.table(table)} set contact_id = ${survivorId}::bigint ${table === 'outbox' ? keptTurn(survivorId) : sql``}
      where tenant_id = ${tenantId} and contact_id = ${formerId} returning ${sql.ref(key)}::text as key)`,
  );
  const notes = ['messages', 'integration_delivery_people', ...MOVED_TABLES.map(({ table }) => table)].map(
    table => sql`select ${table}, null::jsonb, array(select key from ${sql.table(`moved_${table}`)})`,
  );
  await sql`
    with moved_messages as (
      update messages set contact_id = ${survivorId}::bigint
      where tenant_id = ${tenantId} and conversation_id = any(array(
        select id from conversations where tenant_id = ${tenantId} and contact_id = ${formerId}))
        or tenant_id = ${tenantId} and contact_id = ${formerId} and conversation_id is null -- in group chats
      returning id::text as key
    ), moved_integration_delivery_people as (
      insert into integration_delivery_people (tenant_id, delivery_id, person)
      select tenant_id, delivery_id, ${`contact:${survivorId}`} from integration_delivery_people
      where tenant_id = ${tenantId} and person = ${`contact:${formerId}`}
      on conflict do nothing returning delivery_id::text as key
    ), groups_before as (
      select group_id from contact_groups where tenant_id = ${tenantId} and contact_id = ${formerId}
    ), groups_added as (
      insert into contact_groups (tenant_id, contact_id, group_id)
      select ${tenantId}::bigint, ${survivorId}::bigint, group_id from groups_before on conflict do nothing returning group_id::text as key
    ), ${sql.join(moves)}
    insert into contact_merge_rows (tenant_id, merge_id, relation, former, keys)
    select ${tenantId}::bigint, ${mergeId}::bigint, n.relation, n.former, n.keys
    from (
      select 'contact_groups' as relation, (select jsonb_agg(group_id) from groups_before) as former, array(select key from groups_added) as keys
      union all ${sql.join(notes, sql` union all `)}
    ) n where n.former is not null or cardinality(n.keys) > 0`.execute(trx);
  await giveTurns(trx, tenantId, [survivorId]);
}

/** A message keeps its turn unless the survivor already has a queued message. */
export const keptTurn = (survivorId: number) => sql`, next_attempt_at = case when not exists (
  select from outbox t where t.tenant_id = outbox.tenant_id and t.contact_id = ${survivorId}::bigint and t.channel_id = outbox.channel_id
    and t.priority = outbox.priority) then next_attempt_at end`;

/** Gives one queued message per priority the turn, after messages were moved between contacts, whose rows are locked. */
export async function giveTurns(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> {
  await sql`select give_turns(${tenantId}, ${contactIds}::bigint[])`.execute(trx);
}

/** Deletes the merged contact, which has no rows left, and reduces the counter. */
export async function deleteMerged(trx: Db, tenantId: number, id: number): Promise<void> {
  await sql`
    with c as (delete from contacts where tenant_id = ${tenantId} and id = ${id} returning id)
    update tenant_usage u
    set contacts = u.contacts - n.gone,
        contacts_ceiling = case when u.contacts_maximum is not null then greatest(u.contacts_maximum, u.contacts - n.gone) end
    from (select count(*) as gone from c) n where u.tenant_id = ${tenantId}`.execute(trx);
}
