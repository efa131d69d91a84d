-- The storage of messages: what never changes, the state that changes as a message travels, the network's ids, the queue.
-- The hot statements are functions whose plans are fixed by settings: a queue is filled and emptied by the hundred thousand, and
-- no plan may depend on statistics that were taken when it was empty.

-- Monthly partitions take their storage parameters from the default partition.
create or replace procedure ensure_month_partitions(parent text, ahead integer) language plpgsql as $$
declare
  first_of_month timestamptz;
  name text;
  storage text := (select array_to_string(reloptions, ', ') from pg_class where oid = to_regclass(parent || '_default'));
begin
  for offset_months in -1 .. ahead loop
    first_of_month := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => offset_months)) at time zone 'UTC';
    name := format('%s_%s', parent, to_char(first_of_month at time zone 'UTC', 'YYYYMM'));
    if to_regclass(name) is null then
      execute format('create table %I partition of %I for values from (%L) to (%L)%s',
        name, parent, uuid_at(first_of_month), uuid_at(first_of_month + interval '1 month'),
        case when storage is not null then ' with (' || storage || ')' else '' end);
    end if;
  end loop;
end $$;

-- Makes a table's partitions for the same months as another one's.
create procedure copy_month_partitions(source text, target text) language plpgsql as $$
declare
  part record;
  storage text := (select array_to_string(reloptions, ', ') from pg_class where oid = to_regclass(target || '_default'));
begin
  for part in
    select right(c.relname, 6) as month, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = source::regclass and c.relname ~ ('^' || source || '_[0-9]{6}$')
  loop
    execute format('create table %I partition of %I %s%s', target || '_' || part.month, target, part.bound,
      case when storage is not null then ' with (' || storage || ')' else '' end);
  end loop;
end $$;

-- The state of a message. No index but the key, so that each update is HOT while the page has room (measured on messages as it
-- was, with eight indexes: 6 % of updates). A row grows from 76 to 175 bytes on its way, hence the room: of 60,000 updates in
-- batches of 100, 82 % were HOT at a fillfactor of 50, 90 % at 30 and 98 % at 25.
create table message_states (
  tenant_id bigint not null,
  message_id uuid not null,
  sent_at timestamptz(3),
  delivered_at timestamptz(3),
  read_at timestamptz(3),
  failed_at timestamptz(3),
  updated_at timestamptz(3) not null,
  status text not null default 'queued'
    check (status in ('queued', 'sent', 'delivered', 'read', 'failed', 'cancelled', 'received')),
  wamid text,
  error jsonb,              -- { code, title, details } of the network, or why it was cancelled
  primary key (tenant_id, message_id)
) partition by range (message_id);
create table message_states_default partition of message_states default with (fillfactor = 25);
call copy_month_partitions('messages', 'message_states');

-- Status and time of the last change once more, in a narrow table of their own: what lists are filtered and sorted by. Two index
-- entries for each change, of which message_states would otherwise have three and no HOT update.
create table message_updates (
  tenant_id bigint not null,
  message_id uuid not null,
  updated_at timestamptz(3) not null,
  status text not null,
  primary key (tenant_id, updated_at, message_id)
) partition by range (message_id);
create table message_updates_default partition of message_updates default;
call copy_month_partitions('messages', 'message_updates');
create index message_updates_by_status on message_updates (tenant_id, status, message_id);

-- The network's ids, of messages in both directions. A message that the network delivers twice conflicts here.
create table message_wamids (
  tenant_id bigint not null,
  channel_id bigint not null,
  wamid text not null,
  message_id uuid not null,
  primary key (tenant_id, channel_id, wamid)
);

-- Failures, written once each: filters and the order by time of failure.
create table message_failures (
  tenant_id bigint not null,
  failed_at timestamptz(3) not null,
  message_id uuid not null,
  code integer not null,
  channel_id bigint not null,
  contact_id bigint not null,
  template_id bigint,
  primary key (tenant_id, failed_at, message_id)
);
create index message_failures_by_code on message_failures (tenant_id, code, failed_at, message_id);

-- Messages by the hour in which they were made and the status that they have now. A queued message is not counted here: accepting
-- would lock a row that all sends of a tenant share; count those in message_updates. Each writer has rows of its own, so that none
-- waits for another: 0 the lane that sends, 1 the lane of webhooks, 2 everything else. The sum over writers is the number.
create table message_statistics (
  tenant_id bigint not null,
  hour timestamptz(3) not null,
  channel_id bigint not null,
  direction text not null,
  type text not null,
  template_id bigint not null,       -- 0: none
  status text not null,
  writer smallint not null,
  messages bigint not null,
  primary key (tenant_id, hour, channel_id, direction, type, template_id, status, writer)
) with (fillfactor = 50);

insert into message_states (tenant_id, message_id, sent_at, delivered_at, read_at, failed_at, updated_at, status, wamid, error)
select tenant_id, id, sent_at, delivered_at, read_at, failed_at, updated_at, status, wamid, error from messages;
insert into message_updates (tenant_id, message_id, updated_at, status) select tenant_id, id, updated_at, status from messages;
insert into message_wamids (tenant_id, channel_id, wamid, message_id)
select tenant_id, channel_id, wamid, id from messages where wamid is not null order by 1, 2, 3 on conflict do nothing;
insert into message_failures (tenant_id, failed_at, message_id, code, channel_id, contact_id)
select tenant_id, coalesce(failed_at, updated_at), id, coalesce((error->>'code')::integer, 0), channel_id, contact_id
from messages where status = 'failed';
insert into message_statistics (tenant_id, hour, channel_id, direction, type, template_id, status, writer, messages)
select tenant_id, date_trunc('hour', created_at), channel_id, direction, type, 0, status, 2, count(*)
from messages where status <> 'queued' group by 1, 2, 3, 4, 5, 7;

-- Their indexes go with the columns.
alter table messages
  drop column status, drop column error, drop column wamid, drop column sent_at, drop column delivered_at, drop column read_at,
  drop column failed_at, drop column updated_at,
  add column template_id bigint;     -- of a template that was sent; kept when the template is removed

-- What a channel's lane still has to send. A row leaves when its message is settled.
--
-- One message of each contact and priority is under way at a time: it has the turn. The others have no next_attempt_at and stand in
-- no index of the lane, so that a claim costs the same however many wait. settle_outbox gives the turn on.
alter table outbox rename to outbox_before;
alter index outbox_pkey rename to outbox_before_pkey;
alter index outbox_by_contact rename to outbox_before_by_contact;
alter index outbox_due rename to outbox_before_due;
create table outbox (
  tenant_id bigint not null,
  channel_id bigint not null,
  contact_id bigint not null,
  message_id uuid not null,
  position bigint generated by default as identity,  -- the order of acceptance: clocks of processes differ
  next_attempt_at timestamptz(3),                    -- of the database's clock; null: waits behind an earlier message
  dispatched_at timestamptz(3),                      -- stands while it is not known whether the network took the message
  priority smallint not null check (priority between 0 and 3), -- 0 OTP, 1 answer inside a window, 2 other single send, 3 campaign
  attempts smallint not null default 0,
  sealed bytea,             -- what is really sent, where messages may not show it
  primary key (tenant_id, message_id),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id) on delete cascade
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000);
-- Who comes next; and the target of the contact's foreign key.
create index outbox_by_contact on outbox (tenant_id, contact_id, channel_id, priority, position);
create unique index outbox_turn on outbox (tenant_id, contact_id, channel_id, priority) where next_attempt_at is not null;
create index outbox_due on outbox (tenant_id, channel_id, priority, next_attempt_at, position) where next_attempt_at is not null;

insert into outbox (tenant_id, channel_id, contact_id, message_id, next_attempt_at, dispatched_at, priority, attempts, sealed)
select o.tenant_id, o.channel_id, o.contact_id, o.message_id,
  case when row_number() over (partition by o.tenant_id, o.channel_id, o.contact_id, o.sealed is not null order by o.message_id) = 1
    then o.next_attempt_at end,
  o.dispatched_at, case when o.sealed is not null then 0 else 2 end, o.attempts, o.sealed
from outbox_before o order by o.message_id;
drop table outbox_before;

-- Order of arrival, for the ids of inbound messages.
create sequence message_arrivals as bigint cache 1;

-- The UUIDv7 (RFC 9562) of an instant in milliseconds and a number that orders those of one instant.
create function message_id_at(ms bigint, number bigint) returns uuid language sql immutable parallel safe
  return (lpad(to_hex(greatest(ms, 0)), 12, '0') || '7000' || to_hex((number & 4611686018427387903) | (-9223372036854775808)))::uuid;

-- Puts a message into the outbox: with the turn, unless an earlier message of the same priority waits for the contact.
-- The caller holds the contact's lock (for no key update), so that two of them do not both find nothing. The lock on the last row
-- makes whoever settles that one wait until it can see this one.
create function enqueue_message(tenant bigint, channel bigint, contact bigint, message uuid, urgency smallint, secret bytea)
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
begin
  perform from outbox q
  where q.tenant_id = tenant and q.contact_id = contact and q.channel_id = channel and q.priority = urgency
  order by q.position desc limit 1 for key share;
  insert into outbox (tenant_id, channel_id, contact_id, message_id, priority, next_attempt_at, sealed)
  values (tenant, channel, contact, message, urgency, case when not found then clock_timestamp() end, secret);
end $$;

-- From where on to look for what is due, so that index entries of messages that are gone are not walked again. A transaction may commit
-- what became due this long before: 5 s.
create function outbox_front(instant timestamptz, since timestamptz, emptied_ms_ago double precision) returns timestamptz
language sql immutable parallel safe
  return greatest(least(since, instant - interval '5 s'), instant - interval '5 s' - emptied_ms_ago * interval '1 ms');

-- Takes due messages, the most urgent first. The claim is HOT: it changes no indexed column.
-- `dispatched_at` stands while it is not known whether the network took the message. Such a one is not repeated before `in_doubt_for`
-- is over and all webhooks are read that came in its time: the one that settles it may be among them.
-- `since` (one for each priority) and `emptied_ms_ago`: how far the caller has emptied the queue (outbox_front).
create function claim_outbox(tenant bigint, channel bigint, at_most integer, in_doubt_for interval, since timestamptz[],
  emptied_ms_ago double precision)
returns table (message_id uuid, contact_id bigint, priority smallint, next_attempt_at timestamptz, attempts smallint, sealed bytea, type text,
  body text, content jsonb, reply_to_wamid text, age_ms double precision, phone text, network_user_id text, opted_out_at timestamptz)
language plpgsql rows 32
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  instant timestamptz := clock_timestamp();
  front timestamptz;
  claimed outbox;
begin
  for urgency in 0 .. 3 loop
    exit when at_most <= 0;
    front := outbox_front(instant, since[urgency + 1], emptied_ms_ago);
    for claimed in
      select q.* from outbox q
      where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
        and q.next_attempt_at <= instant and q.next_attempt_at >= front
        and (q.dispatched_at is null or (q.dispatched_at <= instant - in_doubt_for and not exists (
          select from inbound_webhooks w
          where w.tenant_id = tenant and w.processed_at is null and w.attempts = 0
            and w.received_at <= greatest(q.next_attempt_at, q.dispatched_at + in_doubt_for))))
      order by q.next_attempt_at, q.position limit at_most for no key update skip locked
    loop
      update outbox q set attempts = q.attempts + 1, dispatched_at = instant where q.tenant_id = tenant and q.message_id = claimed.message_id;
      at_most := at_most - 1;
      return query
        select m.id, claimed.contact_id, claimed.priority, claimed.next_attempt_at, (claimed.attempts + 1)::smallint, claimed.sealed, m.type, m.body, m.content,
          m.reply_to_wamid, (extract(epoch from instant - m.created_at) * 1000)::double precision, c.phone, c.network_user_id, c.opted_out_at
        from messages m, contacts c
        where m.tenant_id = tenant and m.id = claimed.message_id and c.tenant_id = tenant and c.id = claimed.contact_id;
    end loop;
  end loop;
end $$;

-- Milliseconds until the lane has something to do (0 or less: now); null when it is empty. What is due and dispatched waits until
-- it is no longer in doubt; there is little of that, because a claim has taken everything else that is due.
create function next_due_in_outbox(tenant bigint, channel bigint, in_doubt_for interval, since timestamptz[], emptied_ms_ago double precision)
returns double precision
language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  instant timestamptz := clock_timestamp();
  earliest timestamptz;
  front timestamptz;
begin
  for urgency in 0 .. 3 loop
    front := outbox_front(instant, since[urgency + 1], emptied_ms_ago);
    earliest := least(earliest,
      (select min(case when f.dispatched_at is null then f.next_attempt_at else f.dispatched_at + in_doubt_for end) from (
        select q.next_attempt_at, q.dispatched_at from outbox q
        where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
          and q.next_attempt_at <= instant and q.next_attempt_at >= front
        order by q.next_attempt_at, q.position limit 200) f),
      (select q.next_attempt_at from outbox q
       where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
         and q.next_attempt_at > instant
       order by q.next_attempt_at, q.position limit 1));
  end loop;
  return extract(epoch from earliest - instant) * 1000;
end $$;

-- Lanes of active channels that have something due. Goes from lane to lane through the index: the cost is that of the lanes which
-- have something at all, whatever waits in them.
create function due_outboxes(in_doubt_for interval) returns table (tenant_id bigint, channel_id bigint)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  instant timestamptz := clock_timestamp();
  tenant bigint := 0;
  channel bigint := 0;
begin
  loop
    select q.tenant_id, q.channel_id into tenant, channel from outbox q
    where q.next_attempt_at is not null and (q.tenant_id, q.channel_id) > (tenant, channel)
    order by q.tenant_id, q.channel_id limit 1;
    exit when not found;
    perform from channels c where c.tenant_id = tenant and c.id = channel and c.status = 'active';
    continue when not found;
    for urgency in 0 .. 3 loop
      perform from outbox q
      where q.tenant_id = tenant and q.channel_id = channel and q.priority = urgency and q.next_attempt_at is not null
        and q.next_attempt_at <= instant and (q.dispatched_at is null or q.dispatched_at <= instant - in_doubt_for)
      order by q.next_attempt_at, q.position limit 1; -- the order chooses the index: outbox_turn would be read as a whole
      if found then
        tenant_id := tenant;
        channel_id := channel;
        return next;
        exit;
      end if;
    end loop;
  end loop;
end $$;

-- Moves attempts to a later time, on the database's clock. `attempted` false: nothing was tried, so the attempt is not counted.
-- Fenced by the number of the attempt: where another process has begun a later one, that one stands.
create function postpone_outbox(tenant bigint, messages uuid[], numbers integer[], after_ms double precision[], attempted boolean[], in_doubt boolean[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update outbox q set
    next_attempt_at = case when q.next_attempt_at is not null then clock_timestamp() + p.after_ms * interval '1 ms' end,
    attempts = q.attempts - case when p.attempted then 0 else 1 end,
    dispatched_at = case when p.in_doubt then q.dispatched_at end
  from (
    select * from unnest(messages, numbers, after_ms, attempted, in_doubt) u (message_id, number, after_ms, attempted, in_doubt)
    order by u.message_id
  ) p
  where q.tenant_id = tenant and q.message_id = p.message_id and q.attempts = p.number;
end $$;

-- Takes messages out of the outbox and gives the turn of each to the next message of its contact and priority.
-- @param only_waiting leaves those alone that were handed to the network, or may have been
-- Lock order: message_states before outbox, outbox by message_id.
create function settle_outbox(tenant bigint, messages uuid[], only_waiting boolean)
returns table (message_id uuid, channel_id bigint, is_released boolean) language plpgsql rows 32
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  gone outbox;
  following uuid;
begin
  for gone in
    delete from outbox q
    where q.tenant_id = tenant and q.message_id = any(messages) and (not only_waiting or q.dispatched_at is null)
    returning q.*
  loop
    following := null;
    if gone.next_attempt_at is not null then
      -- A statement of its own: it sees a message that was put behind this one while the delete waited.
      select q.message_id into following from outbox q
      where q.tenant_id = tenant and q.contact_id = gone.contact_id and q.channel_id = gone.channel_id and q.priority = gone.priority
      order by q.position limit 1 for no key update;
      if following is not null then
        update outbox q set next_attempt_at = clock_timestamp() where q.tenant_id = tenant and q.message_id = following;
      end if;
    end if;
    message_id := gone.message_id;
    channel_id := gone.channel_id;
    is_released := following is not null;
    return next;
  end loop;
end $$;

-- Gives the turn to the first message of each channel and priority of some contacts where nobody has it: after messages were moved
-- from contact to contact. The rows are locked.
create function give_turns(tenant bigint, contacts_ bigint[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  update outbox q set next_attempt_at = clock_timestamp()
  from (
    select distinct on (w.contact_id, w.channel_id, w.priority) w.message_id, w.next_attempt_at,
      bool_or(w.next_attempt_at is not null) over (partition by w.contact_id, w.channel_id, w.priority) as has_turn
    from outbox w where w.tenant_id = tenant and w.contact_id = any(contacts_)
    order by w.contact_id, w.channel_id, w.priority, w.position
  ) f
  where not f.has_turn and q.tenant_id = tenant and q.message_id = f.message_id;
end $$;

-- Gives the turn to the first message of each contact and priority of which nobody has it. There are none unless a row was
-- changed by hand: the statements above keep the turn. Reads the whole outbox. @returns how many
create function repair_turns() returns integer language plpgsql as $$
declare
  repaired integer;
begin
  update outbox q set next_attempt_at = clock_timestamp()
  from (
    select distinct on (w.tenant_id, w.contact_id, w.channel_id, w.priority) w.tenant_id, w.message_id from outbox w
    where w.next_attempt_at is null and not exists (
      select from outbox t
      where t.tenant_id = w.tenant_id and t.contact_id = w.contact_id and t.channel_id = w.channel_id and t.priority = w.priority
        and t.next_attempt_at is not null)
    order by w.tenant_id, w.contact_id, w.channel_id, w.priority, w.position
  ) lost
  where q.tenant_id = lost.tenant_id and q.message_id = lost.message_id and q.next_attempt_at is null;
  get diagnostics repaired = row_count;
  return repaired;
end $$;

-- Outbound messages, locked in the order of their ids, with what they were before a change.
create function lock_outbound(tenant bigint, messages_ uuid[])
returns table (id uuid, conversation_id bigint, contact_id bigint, channel_id bigint, direction text, type text, body text, content jsonb,
  status text, error jsonb, wamid text, reply_to_wamid text, sent_at timestamptz, delivered_at timestamptz, read_at timestamptz,
  failed_at timestamptz, created_at timestamptz, updated_at timestamptz)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
    select m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid, m.reply_to_wamid,
      s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at
    from message_states s join messages m on m.tenant_id = s.tenant_id and m.id = s.message_id
    where s.tenant_id = tenant and s.message_id = any(messages_) and m.tenant_id = tenant and m.direction = 'outbound'
    order by s.message_id for update of s;
end $$;

-- Writes states that were read under lock_outbound, one row for each message, with all that lists and statistics know of them.
create function write_message_states(tenant bigint, writer_ smallint, ids uuid[], statuses_ text[], wamids text[], errors jsonb[],
  sent timestamptz[], delivered timestamptz[], read_ timestamptz[], failed timestamptz[], updated timestamptz[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  with given as materialized (
    select u.*, m.channel_id, m.contact_id, m.direction, m.type, m.template_id, m.created_at, s.status as old_status,
      s.updated_at as old_updated_at, s.wamid as old_wamid
    from unnest(ids, statuses_, wamids, errors, sent, delivered, read_, failed, updated)
      as u (id, status, wamid, error, sent_at, delivered_at, read_at, failed_at, updated_at)
    join message_states s on s.tenant_id = tenant and s.message_id = u.id
    join messages m on m.tenant_id = tenant and m.id = u.id
  ), states as (
    update message_states s set status = g.status, wamid = g.wamid, error = g.error, sent_at = g.sent_at, delivered_at = g.delivered_at,
      read_at = g.read_at, failed_at = g.failed_at, updated_at = g.updated_at
    from given g where s.tenant_id = tenant and s.message_id = g.id
  ), updates as (
    update message_updates c set status = g.status, updated_at = g.updated_at
    from given g where c.tenant_id = tenant and c.updated_at = g.old_updated_at and c.message_id = g.id
      and (g.updated_at, g.status) is distinct from (g.old_updated_at, g.old_status)
  ), known as (
    insert into message_wamids (tenant_id, channel_id, wamid, message_id)
    select tenant, g.channel_id, g.wamid, g.id from given g where g.wamid is not null and g.old_wamid is null order by g.channel_id, g.wamid
    on conflict do nothing
  ), failures as (
    insert into message_failures (tenant_id, failed_at, message_id, code, channel_id, contact_id, template_id)
    select tenant, g.failed_at, g.id, coalesce((g.error->>'code')::integer, 0), g.channel_id, g.contact_id, g.template_id
    from given g where g.status = 'failed' and g.old_status <> 'failed'
    on conflict do nothing
  )
  insert into message_statistics as t (tenant_id, hour, channel_id, direction, type, template_id, status, writer, messages)
  select tenant, d.hour, d.channel_id, d.direction, d.type, d.template_id, d.status, writer_, sum(d.change) from (
    select date_trunc('hour', g.created_at) as hour, g.channel_id, g.direction, g.type, coalesce(g.template_id, 0) as template_id, v.status, v.change
    from given g cross join lateral (values (g.status, 1), (g.old_status, -1)) v (status, change)
    where g.status <> g.old_status and v.status <> 'queued'
  ) d
  group by d.hour, d.channel_id, d.direction, d.type, d.template_id, d.status order by 2, 3, 4, 5, 6, 7
  on conflict (tenant_id, hour, channel_id, direction, type, template_id, status, writer) do update set messages = t.messages + excluded.messages;
end $$;

-- Notes that an inbound message was read by the business. Locked by a statement of its own, so that the next one sees its last change.
create function set_message_read(tenant bigint, message uuid, instant timestamptz) returns void language plpgsql as $$
declare
  before message_states;
begin
  select s.* into before from message_states s where s.tenant_id = tenant and s.message_id = message for update;
  update message_states s set read_at = coalesce(s.read_at, instant), updated_at = instant where s.tenant_id = tenant and s.message_id = message;
  update message_updates u set updated_at = instant
  where u.tenant_id = tenant and u.updated_at = before.updated_at and u.message_id = message;
end $$;

-- What goes with a message. A statement trigger rather than foreign keys: those would lock the message with each row that is written.
create function delete_message_storage() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  g record;
  s message_states;
begin
  perform settle_outbox(d.tenant_id, array_agg(d.id), false) from gone d group by d.tenant_id;
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
create trigger messages_deleted after delete on messages referencing old table as gone for each statement execute function delete_message_storage();
