import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';
import { raw } from '../../platform/raw-query.ts';
import { CONTACT_COLUMNS, type ContactRow } from '../contacts/contact.ts';
import type { ListStatement } from '../lists/list.ts';
import { MESSAGE_COLUMNS, type MessageRow } from './message.ts';

declare module '../../platform/database.ts' {
  interface Tables {
    messages: MessageRow & { tenant_id: number };
    outbox: { tenant_id: number; channel_id: number; message_id: string };
    conversations: { tenant_id: number; id: number };
  }
}

const columns = (alias: string) => sql.raw(MESSAGE_COLUMNS.map(column => `${alias}.${column}`).join(', '));

const WINDOW = `(select v.window_expires_at from conversations v where v.tenant_id = m.tenant_id and v.id = m.conversation_id) as window_expires_at`;

/** One page of messages with what is selected of them; what was not read is missing in its rows. */
export async function listMessages(
  db: Db,
  statement: ListStatement,
  columns: readonly (keyof MessageRow)[],
  withWindow: boolean,
): Promise<MessageRow[]> {
  const select = [...columns.map(column => `m.${column}`), ...statement.keys, ...(withWindow ? [WINDOW] : [])].join(
    ', ',
  );
  const { rows } = await db.executeQuery(raw<MessageRow>(`select ${select} ${statement.tail}`, statement.values));
  return rows;
}

export async function getMessages(db: Db, tenantId: number, ids: readonly string[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${columns('m')}, ${sql.raw(WINDOW)} from messages m where m.tenant_id = ${tenantId} and m.id = any(${ids}::uuid[])`.execute(
    db,
  );
  return rows;
}

export async function getMessagesByWamid(db: Db, tenantId: number, wamids: readonly string[]): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select ${columns('m')} from messages m where m.tenant_id = ${tenantId} and m.wamid = any(${wamids}::text[])`.execute(
    db,
  );
  return rows;
}

/** The ends of the service windows of several conversations. */
export async function getWindows(
  db: Db,
  tenantId: number,
  conversationIds: readonly number[],
): Promise<Map<number, string | null>> {
  const { rows } = await sql<{ id: number; window_expires_at: string | null }>`
    select id, window_expires_at from conversations where tenant_id = ${tenantId} and id = any(${conversationIds}::bigint[])`.execute(
    db,
  );
  return new Map(rows.map(row => [row.id, row.window_expires_at]));
}

/** The ends of the service windows of several contacts on the tenant's default channel. */
export async function getContactWindows(
  db: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<Map<number, string | null>> {
  const { rows } = await sql<{ contact_id: number; window_expires_at: string | null }>`
    select v.contact_id, v.window_expires_at
    from conversations v join channels ch on ch.tenant_id = v.tenant_id and ch.id = v.channel_id and ch.is_default
    where v.tenant_id = ${tenantId} and v.contact_id = any(${contactIds}::bigint[])`.execute(db);
  return new Map(rows.map(row => [row.contact_id, row.window_expires_at]));
}

/** Who is written to: a contact by id, or by phone key. */
export type Recipient = { readonly contactId: number } | { readonly phoneKey: string };

/** The row that counts a message (features/usage). */
export interface Counter {
  /** First day of the month, UTC. */
  readonly month: string;
  readonly shard: number;
}

/** What an idempotency key remembers of a send. */
export interface SentResult {
  readonly id: string;
  readonly contact_created?: boolean;
}

export interface SendContext {
  readonly channel_id: number | null;
  readonly channel_status: 'active' | 'paused' | 'disconnected' | null;
  readonly channel_status_reason: string | null;
  readonly contact: ContactRow | null;
  readonly conversation_id: number | null;
  readonly window_expires_at: string | null;
  /** Whether the conversation has a message in this month already. */
  readonly is_counted: boolean;
  /** Whether the row that is to count this message has no room, or is not there yet. */
  readonly is_used_up: boolean;
  /** The idempotency key's row, where there is one. */
  readonly key_operation: string | null;
  readonly key_fingerprint: string | null;
  readonly key_result: SentResult | null;
  readonly key_answer: unknown;
  readonly key_age: number | null;
}

const contactJson = sql.raw(
  `json_build_object(${CONTACT_COLUMNS.map(column => `'${column}', c.${column}`).join(', ')})`,
);

/** All that deciding on a send needs, in one round trip. */
export async function readSendContext(
  db: Db,
  tenantId: number,
  channelId: number | null,
  recipient: Recipient,
  key: string | null,
  counter: Counter,
): Promise<SendContext> {
  const { rows } = await sql<SendContext>`
    select ch.id as channel_id, ch.status as channel_status, ch.status_reason as channel_status_reason,
           case when c.id is not null then ${contactJson} end as contact, v.id as conversation_id, v.window_expires_at,
           coalesce(v.counted_month >= ${counter.month}::date, false) as is_counted,
           u.shard is null or coalesce(u.messages >= u.messages_granted, false) as is_used_up,
           k.operation as key_operation, encode(k.fingerprint, 'hex') as key_fingerprint, k.result as key_result, k.answer as key_answer,
           extract(epoch from now() - k.created_at)::float8 as key_age
    from (select) as nothing
    left join channels ch on ch.tenant_id = ${tenantId}
      and case when ${channelId}::bigint is null then ch.is_default else ch.id = ${channelId}::bigint end
    left join contacts c on c.tenant_id = ${tenantId}
      and ${'contactId' in recipient ? sql`c.id = ${recipient.contactId}` : sql`c.phone_key = ${recipient.phoneKey}`}
    left join conversations v on v.tenant_id = ${tenantId} and v.contact_id = c.id and v.channel_id = ch.id
    left join monthly_usage u on u.tenant_id = ${tenantId} and u.month = ${counter.month}::date and u.shard = ${counter.shard}
    left join idempotency_keys k on k.tenant_id = ${tenantId} and k.key = ${key}::text and k.created_at > now() - interval '24 hours'`.execute(
    db,
  );
  return rows[0] as SendContext;
}

export interface NewMessage {
  readonly id: string;
  readonly channelId: number;
  readonly type: string;
  readonly body: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  /** What is really sent, where `content` may not show it. */
  readonly sealed: Uint8Array | null;
  readonly counter: Counter;
  readonly replyToWamid: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly eventId: string;
  readonly key: { readonly key: string; readonly operation: string; readonly fingerprint: Uint8Array } | undefined;
}

/** A contact that a send makes on its way. */
export interface NewRecipient {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly groupIds: readonly number[];
  readonly eventId: string;
}

/** Where a message goes: to a contact who is there (with the conversation, when there is one), or to one who is made. */
export type Addressee = KnownRecipient | NewRecipient;

export interface KnownRecipient {
  readonly contactId: number;
  readonly conversationId: number | null;
  /** Whether the conversation is known to have been counted this month. */
  readonly isCounted: boolean;
}

/**
 * Accepts a message in one statement: the row, its place in the outbox, its event and the idempotency key stand or fall
 * together, without a transaction's extra round trips.
 *
 * @returns undefined when the contact has meanwhile gone or opted out, when another request has just made it, or when the
 *   month's counter is not there yet
 * @throws a unique violation of idempotency_keys_pkey; a check violation of contacts_within_plan, messages_within_plan or
 *   conversations_within_plan
 */
export async function insertOutbound(
  db: Db,
  tenantId: number,
  message: NewMessage,
  addressee: Addressee,
): Promise<MessageRow | undefined> {
  const key = message.key
    ? sql`, k as (
        insert into idempotency_keys (tenant_id, key, operation, fingerprint, result)
        select ${tenantId}::bigint, ${message.key.key}, ${message.key.operation}, ${message.key.fingerprint}::bytea,
               jsonb_build_object('id', id, 'contact_created', ${'fields' in addressee}::boolean) from m
      )`
    : sql``;
  // One insert for both events: the contact's stands before the message's, whatever order the parts of a statement run in.
  const contactCreated =
    'contactId' in addressee
      ? sql``
      : sql`select ${tenantId}::bigint, ${addressee.eventId}::uuid, 'contact.created', jsonb_build_object('contact', to_jsonb(c)) from c
            union all`;
  const { rows } = await sql<MessageRow>`
    with ${'contactId' in addressee ? existing(tenantId, addressee, message) : fresh(tenantId, addressee, message)}, u as (
      update monthly_usage set messages = messages + 1, conversations = conversations + (select count(*) from opened)
      where tenant_id = ${tenantId} and month = ${message.counter.month}::date and shard = ${message.counter.shard} and exists (select from v)
      returning shard
    ), m as (
      insert into messages as m (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, content, status, reply_to_wamid,
                            created_at, updated_at)
      select ${tenantId}::bigint, ${message.id}::uuid, v.id, v.contact_id, ${message.channelId}::bigint, 'outbound', ${message.type}, ${message.body},
             ${JSON.stringify(message.content)}::jsonb, 'queued', ${message.replyToWamid}, ${message.createdAt}::timestamptz, ${message.createdAt}::timestamptz
      from v, u
      returning ${columns('m')}
    ), o as (
      insert into outbox (tenant_id, channel_id, message_id, contact_id, next_attempt_at, sealed)
      select ${tenantId}::bigint, channel_id, id, contact_id, created_at, ${message.sealed}::bytea from m
    ), e as (
      insert into events (tenant_id, id, type, payload)
      ${contactCreated}
      select ${tenantId}::bigint, ${message.eventId}::uuid, 'message.queued', jsonb_build_object('message', to_jsonb(m)) from m
    )${key}
    select m.*, (select window_expires_at from v) as window_expires_at from m`.execute(db);
  return rows[0];
}

/**
 * The contact is locked first, as its deletion does: whoever took the conversation before could wait in a circle. The counter
 * comes last.
 */
const existing = (tenantId: number, to: KnownRecipient, message: NewMessage) => sql`p as materialized (
    select id from contacts where tenant_id = ${tenantId} and id = ${to.contactId} and opted_out_at is null for key share
  ), ${to.conversationId === null ? madeConversation(tenantId, message) : knownConversation(tenantId, to.conversationId, to.isCounted, message)}`;

/**
 * Whether it was made here or by somebody else just now shows in xmax; whoever made it has counted it. The update that returns
 * the other's row sets no column of a key: that lock would stop foreign keys of messages, and two sends could wait in a circle.
 */
const madeConversation = (tenantId: number, { channelId, counter }: NewMessage) => sql`v as (
    insert into conversations as v (tenant_id, contact_id, channel_id, counted_month)
    select ${tenantId}::bigint, id, ${channelId}::bigint, ${counter.month}::date from p
    on conflict (tenant_id, contact_id, channel_id) do update set counted_month = v.counted_month where v.tenant_id = excluded.tenant_id
    returning id, contact_id, window_expires_at, v.xmax = 0 as is_new
  ), opened as (select from v where is_new)`;

const knownConversation = (tenantId: number, id: number, isCounted: boolean, { counter }: NewMessage) => sql`v as (
    select v.id, v.contact_id, v.window_expires_at from p
    join conversations v on v.tenant_id = ${tenantId} and v.id = ${id} and v.contact_id = p.id
  ), opened as (
    ${
      isCounted
        ? sql`select from v where false`
        : sql`update conversations set counted_month = ${counter.month}::date
              where tenant_id = ${tenantId} and id = (select id from v) and (counted_month is null or counted_month < ${counter.month}::date)
              returning id`
    }
  )`;

/**
 * Takes the locks of a send that shares out the month anew, in the order in which every send takes them: the contact, its
 * conversation (which is made, but not counted, where there is none); a contact that is to be made has the tenant's counters
 * before it. Two sends could wait for each other otherwise.
 * @returns the addressee with the conversation; undefined when the contact has gone
 */
export async function lockAddressee(
  trx: Db,
  tenantId: number,
  channelId: number,
  addressee: Addressee,
): Promise<Addressee | undefined> {
  if (!('contactId' in addressee)) {
    await sql`select from tenant_usage where tenant_id = ${tenantId} for update`.execute(trx);
    return addressee;
  }
  const { rows } = await sql<{ id: number }>`
    with p as materialized (
      select id from contacts where tenant_id = ${tenantId} and id = ${addressee.contactId} for key share
    )
    insert into conversations as v (tenant_id, contact_id, channel_id)
    select ${tenantId}::bigint, id, ${channelId}::bigint from p
    on conflict (tenant_id, contact_id, channel_id) do update set counted_month = v.counted_month where v.tenant_id = excluded.tenant_id
    returning id`.execute(trx);
  const [conversation] = rows;
  return conversation && { ...addressee, conversationId: conversation.id };
}

const fresh = (tenantId: number, to: NewRecipient, message: NewMessage) => sql`room as materialized (
    -- Locked before any contact is, as every creation does: two could wait for each other otherwise.
    select tenant_id from tenant_usage where tenant_id = ${tenantId} for update
  ), c as (
    insert into contacts as c (tenant_id, firstname, lastname, company, type, email, phone, phone_key, description, address, city, state, zip,
                               country_id, source_id, status_id, assigned_id)
    select room.tenant_id, coalesce(r.firstname, ''), coalesce(r.lastname, ''), r.company, coalesce(r.type, 'lead'), r.email, r.phone, r.phone_key,
           r.description, r.address, r.city, r.state, r.zip, r.country_id,
           (select id from sources s where s.tenant_id = ${tenantId} and s.id = r.source_id),
           (select id from statuses s where s.tenant_id = ${tenantId} and s.id = r.status_id), r.assigned_id
    from room, jsonb_to_record(${JSON.stringify(to.fields)}::jsonb) as r (firstname text, lastname text, company text, type text, email text,
      phone text, phone_key text, description text, address text, city text, state text, zip text, country_id smallint, source_id bigint,
      status_id bigint, assigned_id bigint)
    on conflict do nothing
    returning ${sql.raw(CONTACT_COLUMNS.map(column => `c.${column}`).join(', '))}
  ), counted as (
    update tenant_usage set contacts = contacts + 1 where tenant_id = ${tenantId} and exists (select from c)
  ), g as (
    insert into contact_groups (tenant_id, contact_id, group_id)
    select ${tenantId}::bigint, c.id, group_id from c, unnest(${to.groupIds}::bigint[]) as group_id
  ), v as (
    insert into conversations (tenant_id, contact_id, channel_id, counted_month)
    select ${tenantId}::bigint, c.id, ${message.channelId}::bigint, ${message.counter.month}::date from c
    returning id, contact_id, window_expires_at
  ), opened as (select from v)`;
