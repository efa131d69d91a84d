import type pg from 'pg';
import { SCOPES } from '../../src/core/scopes.ts';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { generateToken, hashToken, hintOf } from '../../src/features/tenancy/tokens/token.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { SECRET_KEY } from './gateway.ts';

/** Statements that fill tables by the set; a million rows take minutes, not hours. Values follow from row numbers, so that every run has the same. */

export interface FilledTenant {
  readonly id: number;
  readonly slug: string;
  readonly channelId: number;
  /** Contacts have consecutive ids from here. */
  readonly firstContactId: number;
  /** The conversation of the contact `firstContactId + n` is `firstConversationId + n`. */
  readonly firstConversationId: number;
  readonly contacts: number;
  /** As many of the contacts, from the first on, have one. */
  readonly conversations: number;
}

/** No benchmark may be stopped by a quota: 2,000,000,000 calls a minute. */
const CALLS_PER_MINUTE = 2_000_000_000;

/** Phone key of the n-th contact of a tenant, counted from 0; the number itself has a `+` before it. */
export const FIRST_PHONE = 4_915_110_000_000;

export async function addTenant(
  pool: pg.Pool,
  slug: string,
  contacts: number,
  conversations = contacts,
): Promise<FilledTenant> {
  const id = await one(
    pool,
    `with plan as (
       insert into plans (name, max_contacts, calls_per_minute) values ('bench', null, $2)
       on conflict (name) do update set calls_per_minute = excluded.calls_per_minute returning id
     ), t as (
       insert into tenants (slug, name, plan_id) select $1::text, 'Tenant ' || $1::text, id from plan returning tenant_id
     ), u as (
       insert into tenant_usage (tenant_id) select tenant_id from t
     )
     select tenant_id as id from t`,
    [slug, CALLS_PER_MINUTE],
  );
  await pool.query(
    `insert into sources (tenant_id, name) select $1::bigint, 'Source ' || n from generate_series(1, 8) n`,
    [id],
  );
  await pool.query(
    `insert into statuses (tenant_id, name, color) select $1::bigint, 'Status ' || n, '#2F80ED' from generate_series(1, 6) n`,
    [id],
  );
  await pool.query(
    `insert into groups (tenant_id, name) select $1::bigint, 'Group ' || n from generate_series(1, 40) n`,
    [id],
  );
  await pool.query(
    `insert into staff (tenant_id, name, email) select $1::bigint, 'Person ' || n, 'person' || n || '@example.com' from generate_series(1, 10) n`,
    [id],
  );
  const channelId = await one(
    pool,
    `insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed,
                           verify_token_hash, is_default)
     values ($1::bigint, 'Bench', 'bench-' || $1::bigint, 'bench-waba-' || $1::bigint, '+1 555 078 0000', $2, $2, $2, true) returning id`,
    [id, createSecretBox({ current: Buffer.from(SECRET_KEY, 'base64') }).seal('bench')],
  );
  const firstContactId = await addContacts(pool, id, contacts);
  const firstConversationId = await one(
    pool,
    `with c as (
       insert into conversations (tenant_id, contact_id, channel_id, window_expires_at)
       select tenant_id, id, $2::bigint, now() + interval '20 hours' * (id % 3 - 1) from contacts where tenant_id = $1::bigint order by id limit $3 returning id
     ) select min(id) as id from c`,
    [id, channelId, conversations],
  );
  return { id, slug, channelId, firstContactId, firstConversationId, contacts, conversations };
}

async function addContacts(pool: pg.Pool, tenantId: number, contacts: number): Promise<number> {
  const first = await one(
    pool,
    `with labels as (
       select array(select id from sources where tenant_id = $1::bigint order by id) as sources,
              array(select id from statuses where tenant_id = $1::bigint order by id) as statuses,
              array(select id from staff where tenant_id = $1::bigint order by id) as staff
     ), c as (
       insert into contacts (tenant_id, firstname, lastname, company, type, email, phone, phone_key, description, address, city, state, zip, country_id,
                             source_id, status_id, assigned_id, opted_out_at, created_at, updated_at)
       select $1::bigint, f, l, case when n % 3 = 0 then 'Company ' || n % 5000 end, (array['lead', 'lead', 'lead', 'customer', 'customer', 'guest'])[1 + n % 6],
              lower(f || '.' || l || '.' || n || '@example.com'), '+' || $3::bigint + n, ($3::bigint + n)::text,
              case when n % 4 = 0 then 'Met at the fair in hall ' || n % 17 || ', wants a call back.' end, 'Street ' || n % 300, 'City ' || n % 400,
              case when n % 2 = 0 then 'State ' || n % 16 end, lpad((n % 100000)::text, 5, '0'), (array[276, 840, 76, 250, 724])[1 + n % 5],
              sources[1 + (n * 7) % 8], statuses[1 + (n * 5) % 6], case when n % 5 < 2 then staff[1 + n % 10] end,
              case when n % 50 = 49 then now() - n * interval '1 minute' end,
              now() - ($2::int - n) * interval '37 seconds', now() - (hashint4(n)::bigint + 2147483648) % 20000000 * interval '1 second'
       from labels, generate_series(0, $2::int - 1) n,
       lateral (select (array['Ana','Bilal','Chen','Diego','Eva','Farah','Goran','Hana','Igor','Jana','Kofi','Lucía','Mei','Nadia','Omar','Priya',
                              'Quentin','Rosa','Sven','Thandi','Uma','Vera','Wanjiru','Ximena','Yusuf','Zoë'])[1 + (hashint4(n) & 1023) % 26] as f,
                       (array['Almeida','Bianchi','Costa','Dubois','Eriksson','Fischer','García','Haddad','Ivanova','Jensen','Kimura','Lopes','Müller',
                              'Nguyen','Okafor','Petrov','Rossi','Silva','Tanaka','Weber'])[1 + (hashint4(n * 31) & 1023) % 20] as l) names
       returning id
     ), counted as (
       update tenant_usage set contacts = $2::int where tenant_id = $1::bigint
     )
     select min(id) as id from c`,
    [tenantId, contacts, FIRST_PHONE],
  );
  // One group in every third membership is the big one; half of the contacts are in one group, a quarter in three.
  await pool.query(
    `insert into contact_groups (tenant_id, contact_id, group_id)
     select c.tenant_id, c.id, g.ids[1 + (c.id * 7 + k * 13) % 40]
     from contacts c, generate_series(1, 3) k, (select array(select id from groups where tenant_id = $1::bigint order by id) as ids) g
     where c.tenant_id = $1::bigint and (c.id % 4 = 0 or (c.id % 4 < 3 and k = 1))`,
    [tenantId],
  );
  return first;
}

/** Messages three seconds apart, most of them read, and their events; the newest last. @param before newer messages that are added later */
export async function addMessages(
  pool: pg.Pool,
  tenant: FilledTenant,
  messages: number,
  { events = true, before = 0 } = {},
): Promise<void> {
  await pool.query(
    `with made as materialized (
       select (left(uuid_at(at)::text, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid as id, c, n, at,
              case when n % 3 = 0 then 'inbound' else 'outbound' end as direction,
              (array['Your order ', 'Is there any news of ', 'We have shipped ', 'Thank you for ', 'A question about '])[1 + n % 5] || n || ', please see below.' as body,
              case when n % 3 = 0 then 'received' when n % 40 = 1 then 'failed' when n % 7 = 1 then 'delivered' else 'read' end as status,
              'wamid.' || md5($1::bigint || ':' || $8::int || ':' || n) as wamid
       from generate_series(1, $2::int) n,
       lateral (select now() - ($2::int - n + $8::int) * interval '3 seconds' as at, (hashint4(n + $8::int)::bigint + 2147483648) % $6::int as c) x
     ), m as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
       select $1::bigint, id, $4::bigint + c, $3::bigint + c, $5::bigint, direction, 'text', body, at from made
       returning *
     ), s as (
       insert into message_states (tenant_id, message_id, status, wamid, sent_at, delivered_at, read_at, updated_at)
       select $1::bigint, id, status, wamid, at, at, at, at from made
     ), u as (
       insert into message_updates (tenant_id, message_id, status, updated_at) select $1::bigint, id, status, at from made
     ), w as (
       insert into message_wamids (tenant_id, channel_id, wamid, message_id) select $1::bigint, $5::bigint, wamid, id from made
     )
     insert into events (tenant_id, id, type, payload, occurred_at)
     select m.tenant_id, m.id, 'message.' || made.status, jsonb_build_object('message', to_jsonb(m) - '{conversation_id,body,reply_to_wamid,template_id}'::text[]
              || jsonb_build_object('interaction_id', m.conversation_id, 'message', m.body, 'ref_message_id', m.reply_to_wamid,
                'template_row_id', m.template_id, 'status', made.status, 'message_id', made.wamid, 'sent_at', at, 'delivered_at', at, 'read_at', at, 'updated_at', at)),
            m.created_at
     from m join made using (id) where $7`,
    [
      tenant.id,
      messages,
      tenant.firstContactId,
      tenant.firstConversationId,
      tenant.channelId,
      tenant.conversations,
      events,
      before,
    ],
  );
}

/** What messages make of their conversations: the last one, unread ones, who waits; assignees and statuses by row number. */
export async function addState(pool: pg.Pool, tenant: FilledTenant): Promise<void> {
  await pool.query(
    `update conversations v set
       last_message_id = l.id, last_activity_at = l.created_at, updated_at = l.created_at,
       status = (array['open', 'open', 'closed', 'closed', 'pending'])[1 + v.id % 5],
       assignee_id = case when v.id % 3 = 0 then s.ids[1 + v.id % 10] end,
       unread_count = case when l.direction = 'inbound' then 1 + v.id % 3 else 0 end,
       waiting_since = case when l.direction = 'inbound' then l.created_at end
     from conversations w
     cross join lateral (select m.id, m.created_at, m.direction from messages m
       where m.tenant_id = w.tenant_id and m.conversation_id = w.id order by m.id desc limit 1) l
     cross join (select array_agg(id order by id) as ids from staff where tenant_id = $1) s
     where w.tenant_id = $1 and v.tenant_id = $1 and v.id = w.id`,
    [tenant.id],
  );
}

/** An approved template whose body has parameters, in English. */
export const addTemplate = (pool: pg.Pool, tenant: FilledTenant, name: string, body: string): Promise<void> =>
  addTemplateOf(pool, tenant, { name, category: 'UTILITY', components: [{ type: 'BODY', text: body }] });

/** An approved template in English. */
export async function addTemplateOf(
  pool: pg.Pool,
  tenant: FilledTenant,
  { name, category, components }: Pick<TemplateSeed, 'name' | 'category' | 'components'>,
): Promise<void> {
  await pool.query(
    `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components)
     values ($1, 'bench-waba-' || $1::bigint, 'bench-' || $2::text, $2, 'en', $3, 'APPROVED', 'POSITIONAL', $4)`,
    [tenant.id, name, category, JSON.stringify(components)],
  );
}

/** Queues what was last sent once more: a lane with so many waiting, some of them behind another one to their contact. */
export async function addOutbox(pool: pg.Pool, tenant: FilledTenant, waiting: number): Promise<void> {
  await pool.query(
    `select count(enqueue_messages(tenant_id, array[channel_id], array[contact_id], array[id], array[2::smallint], array[null::bytea])) from (
       select * from messages where tenant_id = $1::bigint and direction = 'outbound' order by id desc limit $2
     ) m`,
    [tenant.id, waiting],
  );
}

/** A token of all scopes that no quota stops. */
export async function addToken(pool: pg.Pool, tenant: FilledTenant): Promise<string> {
  const token = generateToken();
  await pool.query(
    `insert into access_tokens (tenant_id, name, hash, hint, scopes, calls_per_minute) values ($1, 'bench', $2, $3, $4, $5)`,
    [tenant.id, hashToken(token), hintOf(token), SCOPES, CALLS_PER_MINUTE],
  );
  return token;
}

/** What autovacuum would do some minutes later: statistics, and the visibility that index-only scans need. */
export async function settle(pool: pg.Pool): Promise<void> {
  await pool.query('vacuum analyze');
}

async function one(pool: pg.Pool, text: string, values: unknown[]): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(text, values);
  return Number(rows[0]?.id);
}
