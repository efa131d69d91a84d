-- What many lanes ask at the same moment is one statement, whatever tenants they are of: a thousand tenants with one message each cost
-- 11 statements and 5 of them a transaction a message (measured: 6.2 ms of CPU, process and database).

-- Takes due messages of each lane, the most urgent first. The claim is HOT: it changes no indexed column.
-- `dispatched_at` stands while it is not known whether the network took the message. Such a one is not repeated before `in_doubt_for`
-- is over and all webhooks are read that came in its time: the one that settles it may be among them.
-- `since` (four for each lane, one for each priority) and `emptied_ms_ago`: how far the caller has emptied the queue (outbox_front).
-- Never waits for a lock. `lane` counts from 1. Channels that are not active have nothing.
drop function claim_outbox(bigint, bigint, integer, interval, timestamptz[], double precision);
create function claim_outbox(tenants bigint[], channels_ bigint[], at_most integer[], in_doubt_for interval, since timestamptz[],
  emptied_ms_ago double precision[])
returns table (lane integer, message_id uuid, contact_id bigint, priority smallint, next_attempt_at timestamptz, attempts smallint, sealed bytea, type text,
  body text, content jsonb, reply_to_wamid text, age_ms double precision, phone text, user_id text, opted_out_at timestamptz)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  instant timestamptz := clock_timestamp();
  tenant bigint;
  channel bigint;
  room integer;
  front timestamptz;
  own_portfolio text;
  claimed outbox;
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
      for claimed in
        select q.* from outbox q
        where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
          and q.next_attempt_at <= instant and q.next_attempt_at >= front
          and (q.dispatched_at is null or (q.dispatched_at <= instant - in_doubt_for and not exists (
            select from inbound_webhooks w
            where w.tenant_id = tenant and w.processed_at is null and w.attempts = 0
              and w.received_at <= greatest(q.next_attempt_at, q.dispatched_at + in_doubt_for))))
        order by q.next_attempt_at, q.position limit room for no key update skip locked
      loop
        update outbox q set attempts = q.attempts + 1, dispatched_at = instant where q.tenant_id = tenant and q.message_id = claimed.message_id;
        room := room - 1;
        return query
          select number, m.id, claimed.contact_id, claimed.priority, claimed.next_attempt_at, (claimed.attempts + 1)::smallint, claimed.sealed, m.type, m.body, m.content,
            m.reply_to_wamid, (extract(epoch from instant - m.created_at) * 1000)::double precision, c.phone,
            -- As channelUserId in send/recipient.sql.ts: what the network knows a person by whose number it does not show.
            case when c.phone is null then (
              select i.value from contact_identities i
              where i.tenant_id = tenant and i.contact_id = c.id and i.kind = 'user_id' and i.ended_at is null and i.portfolio in (own_portfolio, 'enterprise')
              order by i.portfolio = 'enterprise', i.started_at desc, i.id desc limit 1) end,
            c.opted_out_at
          from messages m, contacts c
          where m.tenant_id = tenant and m.id = claimed.message_id and c.tenant_id = tenant and c.id = claimed.contact_id;
      end loop;
    end loop;
  end loop;
end $$;

-- Lanes that have something due, but for paused channels. A disconnected one has what was accepted in the moment of its end, which its
-- lane cancels. Goes from lane to lane through the index: the cost is that of the lanes which
-- have something at all, whatever waits in them. Most lanes are due by their first entry.
create or replace function due_outboxes(in_doubt_for interval) returns table (tenant_id bigint, channel_id bigint)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  instant timestamptz := clock_timestamp();
  tenant bigint := 0;
  channel bigint := 0;
  is_due boolean;
begin
  loop
    select q.tenant_id, q.channel_id,
      q.next_attempt_at <= instant and (q.dispatched_at is null or q.dispatched_at <= instant - in_doubt_for)
    into tenant, channel, is_due from outbox q
    where q.next_attempt_at is not null and (q.tenant_id, q.channel_id) > (tenant, channel)
    order by q.tenant_id, q.channel_id, q.priority, q.next_attempt_at, q.position limit 1;
    exit when not found;
    perform from channels c where c.tenant_id = tenant and c.id = channel and c.status <> 'paused';
    continue when not found;
    for urgency in 0 .. 3 loop
      exit when is_due;
      perform from outbox q
      where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
        and q.next_attempt_at <= instant and (q.dispatched_at is null or q.dispatched_at <= instant - in_doubt_for)
      order by q.next_attempt_at, q.position limit 1; -- the order chooses the index: outbox_turn would be read as a whole
      is_due := found;
    end loop;
    if is_due then
      tenant_id := tenant;
      channel_id := channel;
      return next;
    end if;
  end loop;
end $$;

-- Moves attempts to a later time, on the database's clock. `attempted` false: nothing was tried, so the attempt is not counted.
-- Fenced by the number of the attempt: where another process has begun a later one, that one stands.
drop function postpone_outbox(bigint, uuid[], integer[], double precision[], boolean[], boolean[]);
create function postpone_outbox(tenants bigint[], messages_ uuid[], numbers integer[], after_ms double precision[], attempted boolean[], in_doubt boolean[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update outbox q set
    next_attempt_at = case when q.next_attempt_at is not null then clock_timestamp() + p.after_ms * interval '1 ms' end,
    attempts = q.attempts - case when p.attempted then 0 else 1 end,
    dispatched_at = case when p.in_doubt then q.dispatched_at end
  from (
    select * from unnest(tenants, messages_, numbers, after_ms, attempted, in_doubt)
      u (tenant_id, message_id, number, after_ms, attempted, in_doubt)
    order by u.tenant_id, u.message_id
  ) p
  where q.tenant_id = p.tenant_id and q.message_id = p.message_id and q.attempts = p.number;
end $$;

-- Takes messages out of the outbox and gives the turn of each to the next message of its contact and priority.
-- @param only_waiting leaves those alone that were handed to the network, or may have been
-- Lock order: message_states before outbox, outbox by tenant and message_id.
create function settle_outbox(tenants bigint[], messages_ uuid[], only_waiting boolean)
returns table (tenant_id bigint, message_id uuid, channel_id bigint, is_released boolean) language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  gone outbox;
  following uuid;
begin
  for gone in
    delete from outbox q
    using (select * from unnest(tenants, messages_) u (tenant_id, message_id) order by u.tenant_id, u.message_id) g
    where q.tenant_id = g.tenant_id and q.message_id = g.message_id and (not only_waiting or q.dispatched_at is null)
    returning q.*
  loop
    following := null;
    if gone.next_attempt_at is not null then
      -- A statement of its own: it sees a message that was put behind this one while the delete waited.
      select q.message_id into following from outbox q
      where q.tenant_id = gone.tenant_id and q.contact_id = gone.contact_id and q.channel_id = gone.channel_id and q.priority = gone.priority
      order by q.position limit 1 for no key update;
      if following is not null then
        update outbox q set next_attempt_at = clock_timestamp() where q.tenant_id = gone.tenant_id and q.message_id = following;
      end if;
    end if;
    tenant_id := gone.tenant_id;
    message_id := gone.message_id;
    channel_id := gone.channel_id;
    is_released := following is not null;
    return next;
  end loop;
end $$;

-- Outbound messages, locked in the order of their tenants and ids, with what they were before a change.
-- @param waits false: those that another transaction has locked are left out
drop function lock_outbound(bigint, uuid[]);
create function lock_outbound(tenants bigint[], messages_ uuid[], waits boolean)
returns table (tenant_id bigint, id uuid, conversation_id bigint, contact_id bigint, channel_id bigint, direction text, type text, body text,
  content jsonb, status text, error jsonb, wamid text, reply_to_wamid text, sent_at timestamptz, delivered_at timestamptz, read_at timestamptz,
  failed_at timestamptz, created_at timestamptz, updated_at timestamptz)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  if not waits then
    -- The same once more, but for its last words: a lock clause takes no parameter.
    return query
      select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
        m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at
      from unnest(tenants, messages_) g (tenant_id, message_id)
      join message_states s on s.tenant_id = g.tenant_id and s.message_id = g.message_id
      join messages m on m.tenant_id = g.tenant_id and m.id = g.message_id and m.direction = 'outbound'
      order by s.tenant_id, s.message_id for update of s skip locked;
    return;
  end if;
  return query
    select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
      m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at
    from unnest(tenants, messages_) g (tenant_id, message_id)
    join message_states s on s.tenant_id = g.tenant_id and s.message_id = g.message_id
    join messages m on m.tenant_id = g.tenant_id and m.id = g.message_id and m.direction = 'outbound'
    order by s.tenant_id, s.message_id for update of s;
end $$;

-- Writes states that were read under lock_outbound, one row for each message, with all that lists and statistics know of them.
drop function write_message_states(bigint, smallint, uuid[], text[], text[], jsonb[], timestamptz[], timestamptz[], timestamptz[], timestamptz[], timestamptz[]);
create function write_message_states(writer_ smallint, tenants bigint[], ids uuid[], statuses_ text[], wamids text[], errors jsonb[],
  sent timestamptz[], delivered timestamptz[], read_ timestamptz[], failed timestamptz[], updated timestamptz[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  with given as materialized (
    select u.*, m.channel_id, m.contact_id, m.direction, m.type, m.template_id, m.created_at, s.status as old_status,
      s.updated_at as old_updated_at, s.wamid as old_wamid
    from unnest(tenants, ids, statuses_, wamids, errors, sent, delivered, read_, failed, updated)
      as u (tenant_id, id, status, wamid, error, sent_at, delivered_at, read_at, failed_at, updated_at)
    join message_states s on s.tenant_id = u.tenant_id and s.message_id = u.id
    join messages m on m.tenant_id = u.tenant_id and m.id = u.id
  ), states as (
    update message_states s set status = g.status, wamid = g.wamid, error = g.error, sent_at = g.sent_at, delivered_at = g.delivered_at,
      read_at = g.read_at, failed_at = g.failed_at, updated_at = g.updated_at
    from given g where s.tenant_id = g.tenant_id and s.message_id = g.id
  ), updates as (
    update message_updates c set status = g.status, updated_at = g.updated_at
    from given g where c.tenant_id = g.tenant_id and c.updated_at = g.old_updated_at and c.message_id = g.id
      and (g.updated_at, g.status) is distinct from (g.old_updated_at, g.old_status)
  ), known as (
    insert into message_wamids (tenant_id, channel_id, wamid, message_id)
    select g.tenant_id, g.channel_id, g.wamid, g.id from given g where g.wamid is not null and g.old_wamid is null
    order by g.tenant_id, g.channel_id, g.wamid
    on conflict do nothing
  ), failures as (
    insert into message_failures (tenant_id, failed_at, message_id, code, channel_id, contact_id, template_id)
    select g.tenant_id, g.failed_at, g.id, coalesce((g.error->>'code')::integer, 0), g.channel_id, g.contact_id, g.template_id
    from given g where g.status = 'failed' and g.old_status <> 'failed'
    on conflict do nothing
  )
  insert into message_statistics as t (tenant_id, hour, channel_id, direction, type, template_id, status, writer, messages)
  select d.tenant_id, d.hour, d.channel_id, d.direction, d.type, d.template_id, d.status, writer_, sum(d.change) from (
    select g.tenant_id, date_trunc('hour', g.created_at) as hour, g.channel_id, g.direction, g.type, coalesce(g.template_id, 0) as template_id,
      v.status, v.change
    from given g cross join lateral (values (g.status, 1), (g.old_status, -1)) v (status, change)
    where g.status <> g.old_status and v.status <> 'queued'
  ) d
  group by d.tenant_id, d.hour, d.channel_id, d.direction, d.type, d.template_id, d.status order by 1, 2, 3, 4, 5, 6, 7
  on conflict (tenant_id, hour, channel_id, direction, type, template_id, status, writer) do update set messages = t.messages + excluded.messages;
end $$;

-- What goes with a message. A statement trigger rather than foreign keys: those would lock the message with each row that is written.
create or replace function delete_message_storage() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  g record;
  s message_states;
begin
  perform settle_outbox(array_agg(d.tenant_id), array_agg(d.id), false) from gone d;
  -- One by one, by their keys: without statistics a join of the three walks all ids of a channel for each message.
  for g in select tenant_id, channel_id, id from gone loop
    select t.* into s from message_states t where t.tenant_id = g.tenant_id and t.message_id = g.id;
    continue when not found;
    delete from message_wamids w where w.tenant_id = g.tenant_id and w.channel_id = g.channel_id and w.wamid = s.wamid;
    delete from message_updates c where c.tenant_id = g.tenant_id and c.updated_at = s.updated_at and c.message_id = g.id;
    delete from message_failures f where f.tenant_id = g.tenant_id and f.failed_at = s.failed_at and f.message_id = g.id;
    delete from message_states t where t.tenant_id = g.tenant_id and t.message_id = g.id;
  end loop;
  return null;
end $$;
drop function settle_outbox(bigint, uuid[], boolean);
