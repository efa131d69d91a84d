-- The queue of stored webhooks in a narrow table of its own: to mark a webhook as processed in its row wrote the row anew, with its body, and
-- three of five indexes (25 of 250 µs a webhook). What is in the queue is not indexed by person yet; a webhook that is given up never is,
-- and is found by its error.
create table waiting_webhooks (
  tenant_id bigint not null,
  id uuid not null,
  received_at timestamptz(3) not null default now(),
  attempts integer not null default 0,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);

insert into waiting_webhooks (tenant_id, id, received_at, attempts)
select tenant_id, id, received_at, attempts from inbound_webhooks where processed_at is null;
update inbound_webhooks set error = 'stored before people were indexed' where processed_at is not null and not is_indexed and error is null;

drop index inbound_webhooks_waiting, inbound_webhooks_unindexed;
alter table inbound_webhooks drop column processed_at, drop column attempts, drop column is_indexed;
create index inbound_webhooks_failed on inbound_webhooks (tenant_id, id) where error is not null;
-- Webhooks are found by id, apart from repeated ones; see 0072.
alter table inbound_webhooks drop constraint inbound_webhooks_pkey;
drop index inbound_webhooks_by_id;
create unique index inbound_webhooks_digest_key on inbound_webhooks (tenant_id, digest);
alter table inbound_webhooks add primary key (tenant_id, id);

-- Written with a row of inbound_webhooks, which has the key to the tenant: checking it again for each of two people a webhook took a third
-- of the time of the insert.
alter table inbound_webhook_people drop constraint inbound_webhook_people_tenant_id_fkey;

-- As in 0077, with the new queue: a message in doubt is not sent again while webhooks wait that may contain its status.
create or replace function claim_outbox(tenants bigint[], channels_ bigint[], at_most integer[], in_doubt_for interval, since timestamptz[],
  emptied_ms_ago double precision[])
returns table (lane integer, message_id uuid, contact_id bigint, priority smallint, next_attempt_at timestamptz, attempts smallint, sealed bytea, type text,
  body text, content jsonb, reply_to_wamid text, age_ms double precision, phone text, user_id text, opted_out_at timestamptz)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  instant timestamptz := clock_timestamp();
  tenant bigint;
  channel bigint;
  room integer;
  front timestamptz;
  own_portfolio text;
  ids uuid[];
begin
  for number in 1 .. cardinality(tenants) loop
    tenant := tenants[number];
    channel := channels_[number];
    room := at_most[number];
    select coalesce(c.portfolio_id, 'waba:' || c.waba_id) into own_portfolio from channels c
    where c.tenant_id = tenant and c.id = channel and c.status = 'active';
    continue when not found;
    for urgency in 0 .. 3 loop
      exit when room <= 0;
      front := outbox_front(instant, since[number * 4 - 3 + urgency], emptied_ms_ago[number]);
      ids := array(
        select q.message_id from outbox q
        where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
          and q.next_attempt_at <= instant and q.next_attempt_at >= front
          and (q.dispatched_at is null or (q.dispatched_at <= instant - in_doubt_for and not exists (
            select from waiting_webhooks w
            where w.tenant_id = tenant and w.attempts = 0
              and w.received_at <= greatest(q.next_attempt_at, q.dispatched_at + in_doubt_for))))
        order by q.next_attempt_at, q.position limit room for no key update skip locked);
      continue when cardinality(ids) = 0;
      room := room - cardinality(ids);
      return query
        with claimed as (
          update outbox q set attempts = q.attempts + 1, dispatched_at = instant
          from unnest(ids) with ordinality as g (message_id, place) where q.tenant_id = tenant and q.message_id = g.message_id
          returning g.place, q.message_id, q.contact_id, q.priority, q.next_attempt_at, q.attempts, q.sealed
        )
        -- Each message and contact by its key, whatever the planner believes of their tables.
        select number, m.id, d.contact_id, d.priority, d.next_attempt_at, d.attempts, d.sealed, m.type, m.body, m.content,
          m.reply_to_wamid, (extract(epoch from instant - m.created_at) * 1000)::double precision, c.phone,
          -- As channelUserId in send/recipient.sql.ts: what the network knows a person by whose number it does not show.
          case when c.phone is null then (
            select i.value from contact_identities i
            where i.tenant_id = tenant and i.contact_id = c.id and i.kind = 'user_id' and i.ended_at is null and i.portfolio in (own_portfolio, 'enterprise')
            order by i.portfolio = 'enterprise', i.started_at desc, i.id desc limit 1) end,
          c.opted_out_at
        from claimed d
        cross join lateral (select k.* from messages k where k.tenant_id = tenant and k.id = d.message_id offset 0) m
        cross join lateral (select k.* from contacts k where k.tenant_id = tenant and k.id = d.contact_id offset 0) c
        order by d.place;
    end loop;
  end loop;
end $$;
