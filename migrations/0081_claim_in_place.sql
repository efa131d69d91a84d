-- Claimed messages are marked where they lie, whatever the planner believes of the outbox. Joined to a list of messages while it was taken
-- for empty, the outbox was read as a whole by each claim, as long as the connection kept the plan: 76 ms for 51 of 30,000 messages.

-- Marks messages that this transaction has just locked. It can only look at the given places: all other ways to read the table are off,
-- because an index of an empty table seems cheaper than two places.
create function mark_dispatched(places tid[], instant timestamptz) returns setof outbox language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_indexscan = off set enable_bitmapscan = off
as $$
begin
  return query update outbox q set attempts = q.attempts + 1, dispatched_at = instant where q.ctid = any(places) returning q.*;
end $$;

create or replace function claim_outbox(tenants bigint[], channels_ bigint[], at_most integer[], in_doubt_for interval, since timestamptz[],
  emptied_ms_ago double precision[])
returns table (lane integer, message_id uuid, contact_id bigint, priority smallint, next_attempt_at timestamptz, attempts smallint, sealed bytea, type text,
  body text, content jsonb, reply_to_wamid text, age_ms double precision, phone text, user_id text, opted_out_at timestamptz)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  instant timestamptz := clock_timestamp();
  tenant bigint;
  channel bigint;
  room integer;
  front timestamptz;
  own_portfolio text;
  places tid[];
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
      places := array(
        select q.ctid from outbox q
        where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
          and q.next_attempt_at <= instant and q.next_attempt_at >= front
          and (q.dispatched_at is null or (q.dispatched_at <= instant - in_doubt_for and not exists (
            select from waiting_webhooks w
            where w.tenant_id = tenant and w.attempts = 0
              and w.received_at <= greatest(q.next_attempt_at, q.dispatched_at + in_doubt_for))))
        order by q.next_attempt_at, q.position limit room for no key update skip locked);
      continue when cardinality(places) = 0;
      room := room - cardinality(places);
      return query
        -- Each message and contact by its key, whatever the planner believes of their tables.
        select number, m.id, d.contact_id, d.priority, d.next_attempt_at, d.attempts, d.sealed, m.type, m.body, m.content,
          m.reply_to_wamid, (extract(epoch from instant - m.created_at) * 1000)::double precision, c.phone,
          -- As channelUserId in send/recipient.sql.ts: what the network knows a person by whose number it does not show.
          case when c.phone is null then (
            select i.value from contact_identities i
            where i.tenant_id = tenant and i.contact_id = c.id and i.kind = 'user_id' and i.ended_at is null and i.portfolio in (own_portfolio, 'enterprise')
            order by i.portfolio = 'enterprise', i.started_at desc, i.id desc limit 1) end,
          c.opted_out_at
        from mark_dispatched(places, instant) d
        cross join lateral (select k.* from messages k where k.tenant_id = tenant and k.id = d.message_id offset 0) m
        cross join lateral (select k.* from contacts k where k.tenant_id = tenant and k.id = d.contact_id offset 0) c
        order by d.next_attempt_at, d.position;
    end loop;
  end loop;
end $$;
