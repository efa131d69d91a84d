import { sql } from 'kysely';
import type { Db } from '../../database/database.ts';
import type { ListStatement } from '../../database/list.ts';
import { raw } from '../../database/statements.ts';
import type { AccountOptWords } from '../tenancy/account/opt-words.ts';
import { isStateColumn, MESSAGE_COLUMNS, type MessageRow, qualifiedColumn } from './message.ts';

export const messageColumns = () => sql.raw(MESSAGE_COLUMNS.map(qualifiedColumn).join(', '));

const WINDOW = `(select v.window_expires_at from conversations v where v.tenant_id = m.tenant_id and v.id = m.conversation_id) as window_expires_at`;

/**
 * One page of messages with the given columns only. States are joined to the rows of the page, not before.
 */
export async function listMessages(
  db: Db,
  statement: ListStatement,
  columns: readonly (keyof MessageRow)[],
  withWindow: boolean,
): Promise<MessageRow[]> {
  const keys = statement.keys.map((_, index) => `k${index}`);
  const [states, fixed] = [columns.filter(isStateColumn), columns.filter(column => !isStateColumn(column))];
  const read = [...fixed.map(column => `m.${column}`), ...statement.keys, ...(withWindow ? [WINDOW] : [])].join(', ');
  const page = `select ${read} ${statement.tail}`;
  const text =
    states.length === 0
      ? page
      : `select ${[...columns.map(qualifiedColumn), ...keys.map(key => `m.${key}`), ...(withWindow ? ['m.window_expires_at'] : [])].join(', ')}
         from (${page}) m join message_states s on s.tenant_id = $1 and s.message_id = m.id order by ${statement.orderByKeys('m')}`;
  const { rows } = await db.executeQuery(raw<MessageRow>(text, statement.values));
  return rows;
}

export async function getMessages(db: Db, tenantId: number, ids: readonly string[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${messageColumns()}, ${sql.raw(WINDOW)} from messages m
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id and s.message_id = any(${ids}::uuid[])
    where m.tenant_id = ${tenantId} and m.id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** Messages by the network's ids. */
export async function getMessagesByWamid(db: Db, tenantId: number, wamids: readonly string[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${messageColumns()} from channels ch
    join message_wamids w on w.tenant_id = ${tenantId} and w.channel_id = ch.id and w.wamid = any(${wamids}::text[])
    join messages m on m.tenant_id = ${tenantId} and m.id = w.message_id
    join message_states s on s.tenant_id = ${tenantId} and s.message_id = m.id
    where ch.tenant_id = ${tenantId}`.execute(db);
  return rows;
}

/** The ends of the service windows of conversations, by id. */
export async function getWindows(
  db: Db,
  tenantId: number,
  conversationIds: readonly number[],
): Promise<Map<number, string | null>> {
  const rows = await db
    .selectFrom('conversations')
    .select(['id', 'window_expires_at'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', eb => eb.fn.any(eb.val(conversationIds)))
    .execute();
  return new Map(rows.map(row => [row.id, row.window_expires_at]));
}

/** The ends of the service windows of contacts on the tenant's default channel, by contact. */
export async function getContactWindows(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, string | null>> {
  const rows = await db
    .selectFrom('conversations as v')
    .innerJoin('channels as ch', join =>
      join
        .onRef('ch.tenant_id', '=', 'v.tenant_id')
        .onRef('ch.id', '=', 'v.channel_id')
        .on('ch.is_default', '=', eb => eb.lit(true)),
    )
    .select(['v.contact_id', 'v.window_expires_at'])
    .where('v.tenant_id', '=', tenantId)
    .where('v.contact_id', '=', eb => eb.fn.any(eb.val(contactIds)))
    .execute();
  return new Map(rows.map(row => [row.contact_id, row.window_expires_at]));
}

/** A tenant's opt-out and opt-in words, of all languages and by language. */
export const getOptWords = async (db: Db, tenantId: number): Promise<AccountOptWords> =>
  (await db
    .selectFrom('tenants')
    .select(['opt_out_words', 'opt_in_words', 'opt_words_by_language'])
    .where('tenant_id', '=', tenantId)
    .$narrowType<Pick<AccountOptWords, 'opt_words_by_language'>>()
    .executeTakeFirst()) ?? { opt_out_words: [], opt_in_words: [], opt_words_by_language: {} };

/** Tenants with a retention period for messages, in days. */
export const listRetentions = (db: Db): Promise<{ readonly tenant_id: number; readonly days: number }[]> =>
  db
    .selectFrom('tenants')
    .modifyFront(sql`/* cross-tenant: housekeeping looks for tenants with a retention period */`)
    .select(['tenant_id', 'keep_messages_days as days'])
    .where('keep_messages_days', 'is not', null)
    .orderBy('tenant_id')
    .$narrowType<{ days: number }>()
    .execute();

/**
 * Deletes the oldest messages from before an instant that are not in the outbox, at most `limit`. A scheduled message is as old as
 * its time: its id has the time of its acceptance. A trigger deletes their states, network ids and failures; usage counters and
 * statistics stay.
 */
export async function deleteOldMessages(db: Db, tenantId: number, beforeIso: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from messages where tenant_id = ${tenantId} and id = any(array(
      select m.id from messages m
      where m.tenant_id = ${tenantId} and m.id < uuid_at(${beforeIso}::timestamptz)
        and coalesce(m.scheduled_at, '-infinity') < ${beforeIso}::timestamptz
        and not exists (select from outbox o where o.tenant_id = ${tenantId} and o.message_id = m.id)
      order by m.id limit ${limit} for update skip locked))`.execute(db);
  return Number(numAffectedRows ?? 0);
}
