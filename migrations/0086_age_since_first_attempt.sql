-- Messages are retried for 24 hours from their first attempt. The time since their acceptance counted, so that the first refusal was final
-- for a message that was scheduled more than a day ahead, or that waited for longer behind a paused channel.

alter table outbox add column first_tried_at timestamptz(3);  -- null: not tried, or before this version: its time begins with the next attempt

-- As before, with the time of the first attempt, in the same update.
create or replace function mark_dispatched(places tid[], instant timestamptz) returns setof outbox language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_indexscan = off set enable_bitmapscan = off
as $$
begin
  return query update outbox q set attempts = q.attempts + 1, dispatched_at = instant, first_tried_at = coalesce(q.first_tried_at, instant)
    where q.ctid = any(places) returning q.*;
end $$;

-- As before, with the age since the first attempt.
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
          m.reply_to_wamid, (extract(epoch from instant - d.first_tried_at) * 1000)::double precision, c.phone,
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

-- As before. What was never submitted to the network has no first attempt.
create or replace function postpone_outbox(tenants bigint[], messages_ uuid[], numbers integer[], after_ms double precision[], attempted boolean[], in_doubt boolean[],
  reasons text[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  p record;
begin
  for p in
    select u.* from unnest(tenants, messages_, numbers, after_ms, attempted, in_doubt, reasons)
      u (tenant_id, message_id, number, after_ms, attempted, in_doubt, reason)
    cross join lateral (
      select q.position from outbox q where q.tenant_id = u.tenant_id and q.message_id = u.message_id offset 0) o
    order by o.position
  loop
    update outbox q set
      next_attempt_at = case when q.next_attempt_at is not null then clock_timestamp() + p.after_ms * interval '1 ms' end,
      attempts = q.attempts - case when p.attempted then 0 else 1 end,
      first_tried_at = case when p.attempted or q.attempts > 1 then q.first_tried_at end,
      dispatched_at = case when p.in_doubt then q.dispatched_at end,
      hold_reason = p.reason
    where q.tenant_id = p.tenant_id and q.message_id = p.message_id and q.attempts = p.number;
  end loop;
end $$;
