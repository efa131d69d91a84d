import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** A row of the exported file. */
export type ExportedRow = Readonly<Record<string, unknown>>;

/** The person whose data is exported. */
export interface ExportedPerson {
  readonly contactId: number;
  /** Including contacts that were merged into it. */
  readonly contactIds: readonly number[];
  readonly phoneKeys: readonly string[];
  /** The person's identifiers in payloads of shops. */
  readonly shopKeys: readonly ShopKey[];
}

/** An identifier, and when it was the person's: a number may have belonged to others before or after. */
export interface ShopKey {
  readonly person: string;
  /** ISO 8601 or `-infinity`. */
  readonly since: string;
  /** ISO 8601 or `infinity`; excluded. */
  readonly until: string;
}

export interface Section {
  readonly name: string;
  /** A page of rows after an id, in the order of ids; each row has `id`. */
  page(db: Db, tenantId: number, person: ExportedPerson, after: string | null, limit: number): Promise<ExportedRow[]>;
}

interface Rows {
  /** The ordering column, named `id` in the file. */
  readonly key: string;
  readonly type: 'bigint' | 'uuid';
  readonly row: RawBuilder<unknown>;
  /** Tables and conditions, the tenant included. */
  from(tenantId: number, person: ExportedPerson): RawBuilder<unknown>;
}

const section = (name: string, { key, type, row, from }: Rows): Section => ({
  name,
  async page(db, tenantId, person, after, limit) {
    const beyond = after === null ? sql`true` : sql`${sql.ref(key)} > ${after}::${sql.raw(type)}`;
    const { rows } = await sql<{ row: ExportedRow }>`
      select ${row} as row from ${from(tenantId, person)} and ${beyond} order by ${sql.ref(key)} limit ${limit}`.execute(
      db,
    );
    return rows.map(one => one.row);
  },
});

/** The rows of a table with the contact's id. @param key the ordering column */
const contactRows = (name: string, table: string, key: string): Section =>
  section(name, {
    key: `t.${key}`,
    type: 'bigint',
    row: sql`to_jsonb(t) - ${sql.lit('{tenant_id,contact_id,position}')}::text[] || jsonb_build_object('id', ${sql.ref(`t.${key}`)})`,
    from: (tenantId, { contactId }) =>
      sql`${sql.table(table)} t where t.tenant_id = ${tenantId} and t.contact_id = ${contactId}`,
  });

/**
 * All data about a person, by table. Left out: keys, digests and MACs, which are not personal data, and raw webhooks, which contain the
 * same data as messages.
 */
export const SECTIONS: readonly Section[] = [
  contactRows('identities', 'contact_identities', 'id'),
  contactRows('merges', 'contact_merges', 'id'),
  contactRows('consents', 'consent_entries', 'id'),
  section('groups', {
    key: 'g.id',
    type: 'bigint',
    row: sql`jsonb_build_object('id', g.id, 'name', g.name, 'added_at', cg.created_at)`,
    from: (
      tenantId,
      { contactId },
    ) => sql`contact_groups cg join groups g on g.tenant_id = cg.tenant_id and g.id = cg.group_id
      where cg.tenant_id = ${tenantId} and cg.contact_id = ${contactId}`,
  }),
  contactRows('conversations', 'conversations', 'id'),
  contactRows('notes', 'notes', 'id'),
  section('one_time_passwords', {
    key: 'o.id',
    type: 'uuid',
    row: sql`to_jsonb(o) - '{tenant_id,mac,phone_key,idempotency_key,hour}'::text[]`,
    // By number only before its message is accepted: a later one has the contact that had the number then.
    from: (tenantId, { contactIds, phoneKeys }) => sql`otps o where o.tenant_id = ${tenantId}
      and (o.contact_id = any(${contactIds}::bigint[]) or o.contact_id is null and o.phone_key = any(${phoneKeys}::text[]))`,
  }),
  section('bot_replies', {
    key: 'b.reply_message_id',
    type: 'uuid',
    row: sql`to_jsonb(b) - '{tenant_id,contact_id,bot}'::text[] || jsonb_build_object('id', b.reply_message_id)`,
    from: (tenantId, { contactIds }) =>
      sql`bot_replies b where b.tenant_id = ${tenantId} and b.contact_id = any(${contactIds}::bigint[])`,
  }),
  section('orders', {
    key: 'd.id',
    type: 'uuid',
    row: sql`jsonb_build_object('id', d.id, 'integration_id', d.integration_id, 'topic', d.topic, 'received_at', d.received_at,
      'outcome', d.outcome, 'order_id', d.order_id, 'order_status', d.order_status, 'body', convert_from(d.body, 'UTF8'))`,
    // The lateral joins have one plan: a plain one would read all deliveries where statistics are of an empty table.
    from: (tenantId, { shopKeys }) => sql`integration_deliveries d
      where d.tenant_id = ${tenantId} and d.body is not null and d.id = any(array(
        select h.id
        from unnest(${shopKeys.map(key => key.person)}::text[], ${shopKeys.map(key => key.since)}::timestamptz[],
          ${shopKeys.map(key => key.until)}::timestamptz[]) as k (person, since, until)
        cross join lateral (
          select p.delivery_id from integration_delivery_people p where p.tenant_id = ${tenantId} and p.person = k.person offset 0) p
        cross join lateral (
          select h.id from integration_deliveries h
          where h.tenant_id = ${tenantId} and h.id = p.delivery_id and h.received_at >= k.since and h.received_at < k.until offset 0) h))`,
  }),
  section('events', {
    key: 'e.id',
    type: 'uuid',
    row: sql`jsonb_build_object('id', e.id, 'type', e.type, 'occurred_at', e.occurred_at, 'payload', e.payload)`,
    from: (tenantId, { contactIds }) =>
      sql`events e where e.tenant_id = ${tenantId} and e.contact_id = any(${contactIds}::bigint[])`,
  }),
  section('webhook_deliveries', {
    key: 'd.id',
    type: 'uuid',
    row: sql`to_jsonb(d) - '{tenant_id,contact_id,shard,tries}'::text[] || jsonb_build_object('attempts', coalesce((
      select jsonb_agg(to_jsonb(a) - '{tenant_id,delivery_id}'::text[] order by a.number) from webhook_attempts a
      where a.tenant_id = d.tenant_id and a.delivery_id = d.id), '[]'))`,
    from: (tenantId, { contactIds }) =>
      sql`webhook_deliveries d where d.tenant_id = ${tenantId} and d.contact_id = any(${contactIds}::bigint[])`,
  }),
];

/** Rows of a table that extends messages. */
const ofMessages = (table: string): Section =>
  section(table, {
    key: 'm.id',
    type: 'uuid',
    row: sql`to_jsonb(t) - '{tenant_id,message_id}'::text[] || jsonb_build_object('id', t.message_id)`,
    from: (
      tenantId,
      { contactId },
    ) => sql`messages m join ${sql.table(table)} t on t.tenant_id = ${tenantId} and t.message_id = m.id
      where m.tenant_id = ${tenantId} and m.contact_id = ${contactId}`,
  });

/** The threads of a person, without conversations and messages. */
export const THREAD_SECTIONS: readonly Section[] = [
  section('thread_owners', {
    key: 'v.id',
    type: 'bigint',
    row: sql`to_jsonb(o) - '{tenant_id,conversation_id}'::text[] || jsonb_build_object('id', o.conversation_id)`,
    from: (
      tenantId,
      { contactId },
    ) => sql`conversations v join thread_owners o on o.tenant_id = ${tenantId} and o.conversation_id = v.id
      where v.tenant_id = ${tenantId} and v.contact_id = ${contactId}`,
  }),
  section('conversation_tags', {
    key: 'v.id',
    type: 'bigint',
    row: sql`jsonb_build_object('id', v.id, 'names', array(
      select g.name from conversation_tags t join tags g on g.tenant_id = t.tenant_id and g.id = t.tag_id
      where t.tenant_id = v.tenant_id and t.conversation_id = v.id order by g.name))`,
    from: (
      tenantId,
      { contactId },
    ) => sql`conversations v where v.tenant_id = ${tenantId} and v.contact_id = ${contactId}
      and exists (select from conversation_tags t where t.tenant_id = v.tenant_id and t.conversation_id = v.id)`,
  }),
  section('group_chats', {
    key: 'p.id',
    type: 'bigint',
    row: sql`jsonb_build_object('id', p.id, 'group_chat_id', g.id, 'subject', g.subject, 'is_member', p.is_member, 'told_at', p.told_at)`,
    from: (
      tenantId,
      { contactId },
    ) => sql`group_chat_participants p join group_chats g on g.tenant_id = ${tenantId} and g.id = p.group_chat_id
      where p.tenant_id = ${tenantId} and p.contact_id = ${contactId}`,
  }),
  contactRows('message_edits', 'message_edits', 'position'),
  contactRows('message_reactions', 'message_reactions', 'position'),
  ofMessages('message_details'),
  ofMessages('message_pricing'),
];
