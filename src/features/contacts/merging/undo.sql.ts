import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';
import { NEW_CONTACT } from '../columns.ts';
import { findReferences } from '../contacts.sql.ts';
import { type FullContact, giveTurns, keptTurn, lockOutbox } from './merge.sql.ts';
import { MOVED_TABLES } from './moved-tables.ts';

interface Undo {
  readonly mergeId: number;
  readonly survivorId: number;
  readonly formerId: number;
}

/** Restores a contact under its former id, also beyond the plan's limit. References to deleted rows are dropped. */
export async function restoreContact(trx: Db, tenantId: number, contact: FullContact): Promise<void> {
  const { assigned_id: assignee } = contact;
  const { staff } = await findReferences(trx, tenantId, {
    sources: [],
    statuses: [],
    staff: assignee === null ? [] : [assignee],
    groups: [],
  });
  const restored = { ...contact, assigned_id: staff[0] ?? null, opted_out_at: null };
  await sql`
    with c as (
      insert into contacts (tenant_id, id, created_at, ${NEW_CONTACT.columns})
      select ${tenantId}::bigint, r.id, r.created_at, ${NEW_CONTACT.values(tenantId)}
      from jsonb_to_record(${JSON.stringify(restored)}::jsonb) as r (id bigint, created_at timestamptz, ${NEW_CONTACT.definitions})
      returning id
    )
    update tenant_usage u set contacts = u.contacts + 1,
      contacts_ceiling = greatest(u.contacts_ceiling, case when u.contacts_ceiling is not null then u.contacts + 1 end)
    where u.tenant_id = ${tenantId} and exists (select from c)`.execute(trx);
}

/** The keys of the rows of a table that a merge moved. */
const keysOf = (tenantId: number, mergeId: number, relation: string) =>
  sql`array(select unnest(keys) from contact_merge_rows where tenant_id = ${tenantId} and merge_id = ${mergeId} and relation = ${relation})`;

/**
 * Moves rows back that the merge moved and that still belong to the survivor, whose conversations are locked. Rows created since stay
 * with the survivor.
 */
export async function returnRows(trx: Db, tenantId: number, { mergeId, survivorId, formerId }: Undo): Promise<void> {
  await lockOutbox(trx, tenantId, [survivorId]);
  await sql`
    insert into conversations (tenant_id, id, contact_id, channel_id, window_expires_at, created_at, counted_month, status, snoozed_until,
      assignee_id, last_activity_at, unread_count, waiting_since)
    select ${tenantId}::bigint, c.id, ${formerId}::bigint, c.channel_id, c.window_expires_at, c.created_at, c.counted_month,
      coalesce(c.status, 'closed'), c.snoozed_until, (select s.id from staff s where s.tenant_id = ${tenantId} and s.id = c.assignee_id),
      coalesce(c.last_activity_at, c.created_at), coalesce(c.unread_count, 0), c.waiting_since
    from contact_merge_rows r, jsonb_populate_record(null::conversations, r.former -> 'conversation') c
    where r.tenant_id = ${tenantId} and r.merge_id = ${mergeId} and r.relation = 'folded_conversations'
    order by c.id`.execute(trx);
  const returned = MOVED_TABLES.map(
    ({ table, key }) => sql`${sql.ref(`returned_${table}`)} as (
      update ${sql.table(table)} set contact_id = ${formerId}::bigint
      where tenant_id = ${tenantId} and contact_id = ${survivorId} and ${sql.ref(key)}::text = any(${keysOf(tenantId, mergeId, table)}))`,
  );
  await sql`
    with folded as materialized (
      select r.ordinal as former, (r.former ->> 'kept')::bigint as kept, (r.former ->> 'kept_window')::timestamptz as kept_window,
        (r.former #>> '{conversation,window_expires_at}')::timestamptz as former_window, r.keys
      from contact_merge_rows r
      where r.tenant_id = ${tenantId} and r.merge_id = ${mergeId} and r.relation = 'folded_conversations'
    ), unfolded as (
      update messages m set contact_id = ${formerId}::bigint, conversation_id = f.former
      from (select former, unnest(keys)::uuid as id from folded) f
      where m.tenant_id = ${tenantId} and m.id = f.id and m.contact_id = ${survivorId}
    ), updated_events as (
      update events e set conversation_id = f.former from folded f
      where e.tenant_id = ${tenantId} and e.conversation_id = f.kept and e.payload #>> '{message,interaction_id}' = f.former::text
    ), windows as (
      -- A window that the former contact's conversation had opened moves back; a later one stays.
      update conversations v set window_expires_at = f.kept_window from folded f
      where v.tenant_id = ${tenantId} and v.id = f.kept and v.window_expires_at = f.former_window
        and f.kept_window is distinct from f.former_window
    ), tagged as (
      insert into conversation_tags (tenant_id, conversation_id, tag_id)
      select t.tenant_id, r.ordinal, t.id
      from contact_merge_rows r, jsonb_array_elements_text(r.former -> 'tags') e (id) join tags t on t.tenant_id = ${tenantId} and t.id = e.id::bigint
      where r.tenant_id = ${tenantId} and r.merge_id = ${mergeId} and r.relation = 'folded_conversations'
    ), moved_messages as (
      update messages set contact_id = ${formerId}::bigint
      where tenant_id = ${tenantId} and contact_id = ${survivorId} and id = any((${keysOf(tenantId, mergeId, 'messages')})::uuid[])
    ), people as (
      delete from integration_delivery_people
      where tenant_id = ${tenantId} and person = ${`contact:${survivorId}`} and delivery_id::text = any(${keysOf(tenantId, mergeId, 'integration_delivery_people')})
    ), regrouped as (
      insert into contact_groups (tenant_id, contact_id, group_id)
      select ${tenantId}::bigint, ${formerId}::bigint, g.id
      from contact_merge_rows r, jsonb_array_elements_text(r.former) e (id) join groups g on g.tenant_id = ${tenantId} and g.id = e.id::bigint
      where r.tenant_id = ${tenantId} and r.merge_id = ${mergeId} and r.relation = 'contact_groups'
      on conflict do nothing
    ), groups_taken as (
      delete from contact_groups
      where tenant_id = ${tenantId} and contact_id = ${survivorId} and group_id::text = any(${keysOf(tenantId, mergeId, 'contact_groups')})
    ), ${sql.join(returned)}
    select from folded`.execute(trx);
  await returnNotes(trx, tenantId, { mergeId, survivorId, formerId });
}

/** Returns the notes of conversations that the merge folded. A statement of its own: `returnRows` writes the same rows. */
async function returnNotes(trx: Db, tenantId: number, { mergeId, survivorId, formerId }: Undo): Promise<void> {
  await sql`
    update notes n set conversation_id = r.ordinal, contact_id = ${formerId}::bigint
    from contact_merge_rows r, jsonb_array_elements_text(r.former -> 'notes') e (id)
    where r.tenant_id = ${tenantId} and r.merge_id = ${mergeId} and r.relation = 'folded_conversations'
      and n.tenant_id = ${tenantId} and n.id = e.id::bigint and n.contact_id = any(${[survivorId, formerId]}::bigint[])`.execute(
    trx,
  );
}

/** Recomputes last message, unread count and waiting time of conversations, after messages were moved between them. */
async function recountConversations(trx: Db, tenantId: number, contactIds: readonly number[]): Promise<void> {
  await sql`
    update conversations v set last_message_id = l.id, unread_count = u.unread, waiting_since = u.waiting_since
    from conversations w
    left join lateral (
      select m.id from messages m where m.tenant_id = ${tenantId} and m.conversation_id = w.id and m.type <> 'reaction' order by m.id desc limit 1) l on true
    left join lateral (
      select m.id from messages m
      where m.tenant_id = ${tenantId} and m.conversation_id = w.id and m.direction = 'outbound' and m.type <> 'reaction' order by m.id desc limit 1) a on true
    cross join lateral (
      select least(count(*), w.unread_count) as unread, case when w.waiting_since is not null then min(coalesce(s.sent_at, m.created_at)) end as waiting_since
      from messages m join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
      where m.tenant_id = ${tenantId} and m.conversation_id = w.id and m.direction = 'inbound' and m.type not in ('reaction', 'system')
        and (a.id is null or m.id > a.id) and s.read_at is null) u
    where v.tenant_id = ${tenantId} and w.tenant_id = ${tenantId} and w.contact_id = any(${contactIds}::bigint[]) and v.id = w.id`.execute(
    trx,
  );
}

/**
 * Leaves messages that were accepted since the merge and wait in the outbox with the survivor, in a conversation of its own: with the
 * restored contact, whose conversation they are in, they would be sent to that one's number.
 */
export async function keepWaiting(trx: Db, tenantId: number, { survivorId, formerId }: Undo): Promise<void> {
  const waiting = sql`outbox o join messages m on m.tenant_id = ${tenantId} and m.id = o.message_id and m.contact_id = ${survivorId}
    join conversations v on v.tenant_id = ${tenantId} and v.id = m.conversation_id and v.contact_id = ${formerId}
    where o.tenant_id = ${tenantId} and o.contact_id = ${survivorId}`;
  await sql`
    insert into conversations (tenant_id, contact_id, channel_id)
    select distinct ${tenantId}::bigint, ${survivorId}::bigint, v.channel_id from ${waiting} on conflict do nothing`.execute(
    trx,
  );
  await sql`
    update messages set conversation_id = own.id
    from (select m.id, v.channel_id from ${waiting}) w
    join conversations own on own.tenant_id = ${tenantId} and own.contact_id = ${survivorId} and own.channel_id = w.channel_id
    where messages.tenant_id = ${tenantId} and messages.id = w.id`.execute(trx);
}

/**
 * Makes restored rows consistent. A restored conversation takes its later messages along. A restored message without its
 * conversation, which a later merge folded into another one, gets a conversation of the restored contact. Queued messages follow
 * the contact of their message. Of two rows of the restored number, the earlier one stays.
 */
export async function alignRows(trx: Db, tenantId: number, { mergeId, survivorId, formerId }: Undo): Promise<void> {
  await sql`
    update messages m set contact_id = v.contact_id from conversations v
    where v.tenant_id = ${tenantId} and v.contact_id = ${formerId} and m.tenant_id = ${tenantId} and m.conversation_id = v.id
      and m.contact_id <> v.contact_id`.execute(trx);
  await sql`
    insert into conversations (tenant_id, contact_id, channel_id)
    select distinct v.tenant_id, ${formerId}::bigint, v.channel_id
    from messages m join conversations v on v.tenant_id = m.tenant_id and v.id = m.conversation_id
    where m.tenant_id = ${tenantId} and m.contact_id = ${formerId} and v.contact_id <> m.contact_id
    on conflict do nothing`.execute(trx);
  await sql`
    update messages m set conversation_id = own.id
    from conversations v join conversations own on own.tenant_id = v.tenant_id and own.channel_id = v.channel_id
    where m.tenant_id = ${tenantId} and m.contact_id = ${formerId} and v.tenant_id = ${tenantId} and v.id = m.conversation_id
      and v.contact_id <> m.contact_id and own.contact_id = ${formerId}`.execute(trx);
  // The id of a conversation that a later merge folded resolves to the conversation with the restored messages.
  await sql`
    update conversation_merges m set kept_id = own.id
    from conversations kept join conversations own on own.tenant_id = kept.tenant_id and own.channel_id = kept.channel_id
    where m.tenant_id = ${tenantId} and m.former_id = any((${keysOf(tenantId, mergeId, 'conversations')})::bigint[])
      and kept.tenant_id = ${tenantId} and kept.id = m.kept_id and own.contact_id = ${formerId}`.execute(trx);
  await recountConversations(trx, tenantId, [survivorId, formerId]);
  for (const [from, to] of [
    [survivorId, formerId],
    [formerId, survivorId],
  ] as const)
    await sql`
      update outbox set contact_id = ${to}::bigint ${keptTurn(to)}
      from messages m
      where outbox.tenant_id = ${tenantId} and outbox.contact_id = ${from} and m.tenant_id = ${tenantId} and m.id = outbox.message_id
        and m.contact_id = ${to}`.execute(trx);
  await giveTurns(trx, tenantId, [survivorId, formerId]);
  await sql`
    delete from contact_identities i using contact_identities earlier
    where i.tenant_id = ${tenantId} and i.contact_id = ${formerId} and i.kind = 'phone' and i.ended_at is null
      and earlier.tenant_id = ${tenantId} and earlier.contact_id = ${formerId} and earlier.kind = 'phone' and earlier.ended_at is null
      and earlier.value = i.value and earlier.id < i.id`.execute(trx);
}

/** Marks the merge as undone, so that evidence of the network does not merge the two again. */
export async function setUndone(trx: Db, tenantId: number, mergeId: number, nowIso: string): Promise<void> {
  await sql`
    with noted as (
      update contact_merges set undone_at = ${nowIso}::timestamptz, snapshot = null, filled = '{}'
      where tenant_id = ${tenantId} and id = ${mergeId}
    ), resolved as (
      delete from conversation_merges where tenant_id = ${tenantId} and merge_id = ${mergeId}
    )
    delete from contact_merge_rows where tenant_id = ${tenantId} and merge_id = ${mergeId}`.execute(trx);
}

/** Deletes the undo data of up to `limit` merges from before an instant. @returns their number */
export async function deleteMergeSnapshots(db: Db, before: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    /* cross-tenant: housekeeping, by age alone */
    with old as (
      select tenant_id, id from contact_merges where merged_at < ${before} and snapshot is not null order by merged_at limit ${limit} for update skip locked
    ), forgotten as (
      update contact_merges m set snapshot = null, filled = '{}' from old o where m.tenant_id = o.tenant_id and m.id = o.id returning 1
    ), removed as (
      delete from contact_merge_rows r using old o where r.tenant_id = o.tenant_id and r.merge_id = o.id
    )
    select count(*)::int as count from forgotten`.execute(db);
  return rows[0]?.count ?? 0;
}
