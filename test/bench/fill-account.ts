import pg from 'pg';
import type { FilledTenant } from './fill.ts';
import { printProgress } from './output.ts';

/** All that a large account has, by the set: `screens.ts` fills its database with it. Values follow from row numbers. */

const BATCH = 500_000;
const DAYS = 90;
/** The last days of messages have their events, and these their deliveries to webhooks. */
const EVENT_HOURS = 72;
const WAITING = 33_000;
/** One after the other, with one template each. */
const CAMPAIGNS = 20;

/** Tables whose rows are written by the million: their indexes are built afterwards. */
const LARGE = [
  'messages',
  'message_states',
  'message_updates',
  'message_wamids',
  'message_pricing',
  'message_failures',
];

/** Messages of the last 90 days in the conversations of a tenant, of which some have very many, and what belongs to them. */
export async function fillAccount(address: string, tenant: FilledTenant, messages: number): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    // Foreign keys and triggers would be checked row by row. A superuser may leave them out.
    await client.query(`set session_replication_role = replica`);
    await client.query(
      `set synchronous_commit = off; set maintenance_work_mem = '1GB'; set work_mem = '256MB'; set jit = off`,
    );
    await addLabels(client, tenant);
    await pastPartitions(client);
    const definitions = await dropIndexes(client);
    for (let done = 0; done < messages; done += BATCH) {
      await addBatch(client, tenant, done, Math.min(BATCH, messages - done), messages);
      printProgress(`  ${Math.min(done + BATCH, messages)} of ${messages} messages`);
    }
    for (const [index, text] of definitions.entries()) {
      await client.query(text);
      printProgress(`  ${index + 1} of ${definitions.length} indexes`);
    }
    await client.query('analyze');
    for (const [name, step] of Object.entries(STEPS)) {
      printProgress(`  ${name} …`);
      await step(client, tenant);
    }
    printProgress('  vacuum analyze …');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

/** Drops what slows inserts. @returns the statements that make it again */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string; index: string; constraint: string | null; text: string }>(
    `select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as index, k.conname as constraint,
            coalesce('alter table ' || i.indrelid::regclass || ' add constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid),
                     replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')) as text
     from pg_index i
     left join pg_constraint k on k.conindid = i.indexrelid and k.conrelid = i.indrelid and k.contype in ('p', 'u')
     where i.indrelid = any($1::regclass[]) order by 1, 2`,
    [LARGE],
  );
  for (const { table, index, constraint } of rows)
    await client.query(constraint ? `alter table ${table} drop constraint ${constraint}` : `drop index ${index}`);
  return rows.map(({ text }) => text);
}

/** An account that has been here for months has a partition for each. */
async function pastPartitions(client: pg.Client): Promise<void> {
  await client.query(
    `do $$ declare parent text; month timestamptz; begin
       foreach parent in array '{messages,message_states,message_updates,events,webhook_deliveries,webhook_attempts}'::text[] loop
         for month in select generate_series(date_trunc('month', now(), 'UTC') - interval '4 months', now() - interval '2 months', interval '1 month') loop
           continue when to_regclass(parent || to_char(month, '_YYYYMM')) is not null;
           execute format('create table %I partition of %I for values from (%L) to (%L)%s', parent || to_char(month, '_YYYYMM'), parent,
             uuid_at(month), uuid_at(month + interval '1 month'),
             (select ' with (' || array_to_string(reloptions, ', ') || ')' from pg_class where oid = to_regclass(parent || '_default')));
         end loop;
       end loop;
     end $$`,
  );
}

async function addLabels(client: pg.Client, { id }: FilledTenant): Promise<void> {
  await client.query(
    `insert into templates (tenant_id, waba_id, network_id, name, language, category, status, parameter_format, components)
     select $1::bigint, 'bench-waba-' || $1::bigint, 'bench-' || n, 'offer_' || n, 'en', (array['MARKETING', 'UTILITY'])[1 + n % 2], 'APPROVED', 'POSITIONAL',
       '[{"type": "BODY", "text": "Hello {{1}}, your order {{2}} is on its way."}]' from generate_series(1, 12) n`,
    [id],
  );
  await client.query(
    `insert into tags (tenant_id, name, color) select $1::bigint, 'Tag ' || n, '#2F80ED' from generate_series(1, 12) n`,
    [id],
  );
  await client.query(
    `insert into campaigns (tenant_id, name, status, template, audience, total, is_prepared, is_wave_passed, started_at, ended_at, last_message_at, author)
     select $1::bigint, 'Campaign ' || n, 'completed', '{"name": "offer_1", "language": "en", "values": {}}', '{"groupIds": []}', 0, true, true,
       now() - interval '90 days', now(), now(), '{"kind": "token", "id": 1, "name": "bench"}' from generate_series(1, ${CAMPAIGNS}) n`,
    [id],
  );
}

/** A batch of messages, from the n-th on: a third comes in, a third is text of staff and bots, a third are templates, most of campaigns. */
async function addBatch(
  client: pg.Client,
  tenant: FilledTenant,
  from: number,
  count: number,
  messages: number,
): Promise<void> {
  await client.query('drop table if exists made');
  await client.query(
    `create temp table made as
     select n, c, at, (left(uuid_at(at)::text, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid as id, direction, type, template, campaign, status,
       'wamid.' || md5(${tenant.id} || ':' || n) as wamid, at + delay as sent_at, at + delay * 3 as delivered_at, at + delay * 60 as read_at,
       case when direction = 'outbound' then (array['DE', 'DE', 'DE', 'BR', 'IN', 'US', 'FR', 'ES', 'IT', 'MX'])[1 + c % 10] end as country,
       case when type = 'text' then (array['Your order ', 'Is there any news of ', 'We have shipped ', 'Thank you for ', 'A question about '])[1 + n % 5] || n
         || ', please see below.' end as body,
       case when status = 'failed' then (array[131026, 131047, 131049, 131053, 130472, 131051])[1 + n / 61 % 6] end as code,
       case when direction = 'inbound' then null
         when campaign then jsonb_build_object('kind', 'campaign', 'id', campaigns.first + run, 'name', 'Campaign')
         when n % 2 = 0 then jsonb_build_object('kind', 'staff', 'id', 1 + n % 10, 'name', 'Person ' || n % 10)
         when n % 5 = 0 then '{"kind": "bot", "id": 1, "name": "Opening hours"}'
         else '{"kind": "token", "id": 1, "name": "bench"}' end as author
     from (
       select n, at, floor(power((hashint4(n)::bigint + 2147483648) / 4294967296.0, 2) * ${tenant.conversations})::int as c,
         case when n % 3 = 0 then 'inbound' else 'outbound' end as direction,
         case when n % 3 = 2 then 'template' when n % 3 = 0 and n % 50 = 0 then 'reaction' when n % 20 = 1 then 'image' else 'text' end as type,
         n % 3 = 2 and n % 5 > 0 as campaign, run, case when n % 3 = 2 then case when n % 5 > 0 then run % 12 else n / 3 % 12 end end as template,
         case when n % 3 = 0 then 'received' when n % 61 = 1 then 'failed' when n % 7 = 1 then 'delivered' when n % 19 = 1 then 'sent' else 'read' end as status,
         (200 + (hashint4(n * 3) & 4095)) * interval '1 millisecond' as delay
       from generate_series($1::int, $1::int + $2::int - 1) n,
       lateral (select (now() - ($3::int - n) * interval '${DAYS} days' / $3::int)::timestamptz(3) as at,
         (n::bigint * ${CAMPAIGNS} / ($3::int + 1))::int as run) a
     ) x, (select min(id) as first from campaigns where tenant_id = ${tenant.id}) campaigns`.replace(
      /\$(\d)/g,
      (_, number) => String([from, count, messages][Number(number) - 1]),
    ),
  );
  await client.query(
    `insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, content, reply_to_wamid, created_at, template_id, author)
     select $1, id, $3::bigint + c, $2::bigint + c, $4, direction, type, body,
       case type when 'template' then jsonb_build_object('name', 'offer_' || 1 + template, 'language', '{"code": "en"}'::jsonb, 'components',
           jsonb_build_array(jsonb_build_object('type', 'body', 'parameters', jsonb_build_array(
             jsonb_build_object('type', 'text', 'text', 'Ana'), jsonb_build_object('type', 'text', 'text', n::text)))),
           'rendered', jsonb_build_object('header', null, 'footer', null, 'buttons', '[]'::jsonb, 'body', 'Hello Ana, your order ' || n || ' is on its way.'))
         when 'reaction' then '{"emoji": "👍"}' when 'image' then '{"link": "https://example.com/picture.jpg", "mime_type": "image/jpeg"}' else '{}' end,
       case when n % 17 = 0 then 'wamid.' || md5($1::bigint || ':' || n - 17) end, at, templates.first + template, author
     from made, (select min(id) as first from templates where tenant_id = $1) templates`,
    [tenant.id, tenant.firstContactId, tenant.firstConversationId, tenant.channelId],
  );
  for (const text of [
    `insert into message_states (tenant_id, message_id, status, wamid, sent_at, delivered_at, read_at, failed_at, updated_at, country, error)
     select $1, id, status, wamid, case when status <> 'received' then sent_at end, case when status in ('delivered', 'read') then delivered_at end,
       case when status = 'read' then read_at end, case when status = 'failed' then delivered_at end,
       case status when 'read' then read_at when 'received' then at when 'sent' then sent_at else delivered_at end, country,
       case when status = 'failed' then jsonb_build_object('code', code, 'title', 'Not delivered', 'details', 'The network gave code ' || code) end from made`,
    `insert into message_updates (tenant_id, message_id, status, updated_at)
     select $1, id, status, case status when 'read' then read_at when 'received' then at when 'sent' then sent_at else delivered_at end from made`,
    `insert into message_failures (tenant_id, failed_at, message_id, code, channel_id, contact_id, template_id)
     select $1, delivered_at, id, code, ${tenant.channelId}, ${tenant.firstContactId} + c, (select min(id) from templates where tenant_id = $1) + template
     from made where status = 'failed'`,
    `insert into message_wamids (tenant_id, channel_id, wamid, message_id) select $1, ${tenant.channelId}, wamid, id from made`,
    `insert into message_pricing (tenant_id, message_id, category, type, model, is_billable, updated_at, country, channel_id, occurred_at, status_rank, campaign_id)
     select $1, id, (array['marketing', 'utility'])[1 + (template + 1) % 2], 'regular', 'PMP', true, sent_at, country, ${tenant.channelId}, at, 2, nullif(campaign_of(author), 0)
     from made where template is not null and status <> 'failed'`,
  ])
    await client.query(text, [tenant.id]);
}

type Step = (client: pg.Client, tenant: FilledTenant) => Promise<unknown>;

/** What is made of the messages, by name, in this order. */
const STEPS: Record<string, Step> = {
  'reactions, edits': async (client, { id, channelId }) => {
    await client.query(
      `insert into message_reactions (tenant_id, channel_id, wamid, original_wamid, contact_id, direction, emoji, occurred_at)
       select m.tenant_id, m.channel_id, s.wamid, o.wamid, m.contact_id, 'inbound', '👍', m.created_at
       from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
       cross join lateral (
         select t.wamid from messages k join message_states t on t.tenant_id = k.tenant_id and t.message_id = k.id
         where k.tenant_id = m.tenant_id and k.conversation_id = m.conversation_id and k.id < m.id and k.type <> 'reaction' order by k.id desc limit 1
       ) o
       where m.tenant_id = $1 and m.type = 'reaction'`,
      [id],
    );
    await client.query(
      `with edited as (
         select m.id, m.contact_id, m.direction, m.body, m.created_at, s.wamid
         from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
         where m.tenant_id = $1 and m.direction = 'inbound' and m.type = 'text' and hashtext(m.id::text) % 100 = 0
       ), d as (
         insert into message_details (tenant_id, message_id, edited_at) select $1, id, created_at + interval '1 minute' from edited
       )
       insert into message_edits (tenant_id, channel_id, wamid, original_wamid, kind, direction, contact_id, occurred_at, body, previous, is_applied)
       select $1, $2, wamid || '.edit', wamid, 'edit', direction, contact_id, created_at + interval '1 minute', body, jsonb_build_object('body', body), true
       from edited`,
      [id, channelId],
    );
  },
  'state of conversations, tags, notes': async (client, { id }) => {
    await client.query(
      `update conversations v set
         last_message_id = l.id, last_activity_at = l.created_at, updated_at = l.created_at,
         status = (array['open', 'open', 'closed', 'closed', 'pending'])[1 + v.id % 5],
         assignee_id = case when v.id % 3 = 0 then s.ids[1 + v.id % 10] end,
         unread_count = case when l.direction = 'inbound' then 1 + v.id % 3 else 0 end,
         waiting_since = case when l.direction = 'inbound' then l.created_at end
       from conversations w
       cross join lateral (select m.id, m.created_at, m.direction from messages m
         where m.tenant_id = w.tenant_id and m.conversation_id = w.id and m.type <> 'reaction' order by m.id desc limit 1) l
       cross join (select array_agg(id order by id) as ids from staff where tenant_id = $1) s
       where w.tenant_id = $1 and v.tenant_id = $1 and v.id = w.id`,
      [id],
    );
    await client.query(
      `insert into conversation_tags (tenant_id, conversation_id, tag_id)
       select v.tenant_id, v.id, t.ids[1 + (v.id + n) % 12] from conversations v, generate_series(0, 1) n,
         (select array_agg(id order by id) as ids from tags where tenant_id = $1) t where v.tenant_id = $1 and v.id % 2 = 0`,
      [id],
    );
    await client.query(
      `insert into notes (tenant_id, contact_id, conversation_id, body, author)
       select v.tenant_id, v.contact_id, v.id, 'Wants a call back, note ' || n || '.', '{"kind": "staff", "id": 1, "name": "Person 1"}'
       from conversations v, generate_series(1, 2) n where v.tenant_id = $1 and v.id % 4 = 1`,
      [id],
    );
  },
  'identities, consents': async (client, { id }) => {
    await client.query(
      `insert into contact_identities (tenant_id, contact_id, kind, value, started_at)
       select tenant_id, id, 'wa_id', phone_key, created_at from contacts where tenant_id = $1 and phone_key is not null`,
      [id],
    );
    await client.query(
      `insert into consent_entries (tenant_id, contact_id, category, state, source, author, occurred_at)
       select tenant_id, id, 'marketing', case when id % 20 = 0 then 'opted_out' else 'opted_in' end, 'page', '{"kind": "token", "id": 1, "name": "bench"}', created_at
       from contacts where tenant_id = $1 and id % 10 < 6`,
      [id],
    );
    await client.query(
      `insert into consent_entries (tenant_id, contact_id, category, state, source, author, occurred_at)
       select tenant_id, id, 'all', 'opted_out', 'keyword', null, opted_out_at from contacts where tenant_id = $1 and opted_out_at is not null`,
      [id],
    );
  },
  statistics: async (client, { id }) => {
    for (const [table, column, expression, condition] of [
      ['message_statistics', 'error_code', 'failure_code(s.status, s.error)', `s.status <> 'queued'`],
      [
        'delivery_statistics',
        'delivery_bucket',
        'delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at)',
        `s.delivered_at is not null`,
      ],
    ])
      await client.query(
        `insert into ${table} (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, ${column}, messages)
         select m.tenant_id, date_trunc('hour', m.created_at, 'UTC'), m.channel_id, coalesce(m.template_id, 0), campaign_of(m.author),
           coalesce(m.author->>'kind', ''), s.status, coalesce(s.country, ''), coalesce(p.category, ''), coalesce(p.type, ''), coalesce(p.is_billable, false),
           ${expression}, count(*)
         from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
         left join message_pricing p on p.tenant_id = m.tenant_id and p.message_id = m.id
         where m.tenant_id = $1 and ${condition} group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12`,
        [id],
      );
  },
  'recipients, progress and costs of campaigns': async (client, { id }) => {
    await client.query(
      `insert into campaign_recipients (tenant_id, campaign_id, contact_id, message_id, error_code, state, replied_at)
       select distinct on (campaign_of(m.author), m.contact_id) m.tenant_id, campaign_of(m.author), m.contact_id, m.id, (s.error->>'code')::int,
         case s.status when 'sent' then 4 when 'delivered' then 5 when 'read' then 6 else 7 end,
         case when m.contact_id % 9 = 0 then m.created_at + interval '1 hour' end
       from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
       where m.tenant_id = $1 and campaign_of(m.author) > 0`,
      [id],
    );
    await client.query(
      `insert into campaign_progress (tenant_id, campaign_id, sent, delivered, read, failed, replied)
       select tenant_id, campaign_id, count(*) filter (where state between 4 and 6), count(*) filter (where state between 5 and 6), count(*) filter (where state = 6),
         count(*) filter (where state = 7), count(*) filter (where replied_at is not null) from campaign_recipients where tenant_id = $1 group by 1, 2`,
      [id],
    );
    await client.query(
      `update campaigns c set total = r.total from (select campaign_id, count(*) as total from campaign_recipients where tenant_id = $1 group by 1) r
       where c.tenant_id = $1 and c.id = r.campaign_id`,
      [id],
    );
    await client.query(
      `insert into campaign_failures (tenant_id, campaign_id, code, count)
       select tenant_id, campaign_id, error_code, count(*) from campaign_recipients where tenant_id = $1 and error_code is not null group by 1, 2, 3`,
      [id],
    );
  },
  'events, deliveries to webhooks': async (client, { id }) => {
    await client.query(
      `insert into events (tenant_id, id, type, payload, occurred_at, contact_id, conversation_id)
       select m.tenant_id, m.id, 'message.' || s.status, jsonb_build_object('message', to_jsonb(m) - '{conversation_id,body,reply_to_wamid,template_id}'::text[]
           || jsonb_build_object('interaction_id', m.conversation_id, 'message', m.body, 'ref_message_id', m.reply_to_wamid, 'template_row_id', m.template_id,
           'status', s.status, 'status_message', s.error, 'message_id', s.wamid, 'sent_at', s.sent_at, 'delivered_at', s.delivered_at, 'read_at', s.read_at, 'failed_at', s.failed_at, 'updated_at', s.updated_at),
         'contact', jsonb_build_object('id', c.id, 'firstname', c.firstname, 'lastname', c.lastname, 'phone', c.phone)),
         m.created_at, m.contact_id, m.conversation_id
       from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
       join contacts c on c.tenant_id = m.tenant_id and c.id = m.contact_id
       where m.tenant_id = $1 and m.id >= uuid_at(now() - interval '${EVENT_HOURS} hours') order by m.id`,
      [id],
    );
    await client.query(
      `insert into webhook_endpoints (tenant_id, url, events, subscription, format, secret, listens_since, listens_since_seq)
       select $1, 'https://example.com/webhooks/' || n, '{message.*}', decode(md5('bench' || n), 'hex'), 'standard', '\\x00', '0', 0
       from generate_series(1, 2) n`,
      [id],
    );
    await client.query(
      `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, attempts, tries, error, created_at, settled_at, contact_id, response_status)
       select e.tenant_id, uuid_v7(e.occurred_at, row_number() over (order by e.id, p.id)), p.id, 0, e.id, e.type,
         case when e.seq % 50 = 0 then 'failed' else 'delivered' end, case when e.seq % 50 = 0 then 8 else 1 end, 1,
         case when e.seq % 50 = 0 then 'HTTP 500' end, e.occurred_at, e.occurred_at + interval '1 second', e.contact_id,
         case when e.seq % 50 = 0 then 500 else 200 end
       from events e, webhook_endpoints p where e.tenant_id = $1 and p.tenant_id = $1`,
      [id],
    );
    await client.query(
      `insert into webhook_attempts (tenant_id, delivery_id, number, at, status, duration_ms, response, error)
       select d.tenant_id, d.id, n, d.created_at + n * interval '1 minute', d.response_status, 40 + n, 'ok', d.error
       from webhook_deliveries d, generate_series(1, d.attempts) n where d.tenant_id = $1`,
      [id],
    );
  },
  'messages that wait': async (client, { id, channelId }) => {
    await client.query(
      `with late as (
         select m.contact_id, m.id, row_number() over (partition by m.contact_id order by m.id) as turn from (
           select * from messages where tenant_id = $1 and direction = 'outbound' and type = 'template' order by id desc limit ${WAITING}) m
       ), s as (
         update message_states t set status = 'queued', sent_at = null, delivered_at = null, read_at = null, failed_at = null, error = null
         from late where t.tenant_id = $1 and t.message_id = late.id
       ), u as (
         update message_updates t set status = 'queued' from late where t.tenant_id = $1 and t.message_id = late.id
       )
       insert into outbox (tenant_id, channel_id, contact_id, message_id, next_attempt_at, priority)
       select $1, $2, contact_id, id, case when turn = 1 then now() + interval '10 years' end, 2 from late`,
      [id, channelId],
    );
  },
};
