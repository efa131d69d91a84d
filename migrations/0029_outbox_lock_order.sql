-- One lock order of the outbox: message_states by tenant and message id, then rows of the outbox by position. Before, settle_outbox locked
-- what leaves by message id and what follows in the order of that, so that two cancellations could each wait for a message which the
-- other one took away. Ids are no order for followers: processes make them, places are given out under the contact's lock.

-- Locks states of messages in the order of their tenants and ids, where their rows are not wanted (lock_outbound).
create function lock_states(tenants bigint[], messages_ uuid[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  perform from unnest(tenants, messages_) g (tenant_id, message_id)
  join message_states s on s.tenant_id = g.tenant_id and s.message_id = g.message_id
  order by s.tenant_id, s.message_id for update of s;
end $$;

-- Locks what settle_outbox is to touch: messages that leave the outbox, and who has the turn after them. Their states are locked before.
-- Whoever follows stands behind who leaves, so a walk by position meets each in its order; where one is gone when its lock comes, the
-- walk goes on from there with what follows then.
-- @param only_waiting leaves those alone that were handed to the network, or may have been
create function lock_turns(tenants bigint[], messages_ uuid[], only_waiting boolean) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  reached bigint := 0;
  step record;
  has_turn_now boolean;
  is_changed boolean := true;
begin
  -- One message and who follows it are in order.
  if cardinality(messages_) = 1 then
    return;
  end if;
  while is_changed loop
    is_changed := false;
    for step in
      with leaving as materialized (
        select q.tenant_id, q.message_id, q.position, q.contact_id, q.channel_id, q.priority, q.next_attempt_at is not null as has_turn
        from unnest(tenants, messages_) g (tenant_id, message_id)
        join outbox q on q.tenant_id = g.tenant_id and q.message_id = g.message_id
        where not only_waiting or q.dispatched_at is null
      ), steps as (
        select l.tenant_id, l.message_id, l.position, l.has_turn, true as is_leaving from leaving l
        union all
        select f.tenant_id, f.message_id, f.position, false, false from leaving l cross join lateral (
          select q.tenant_id, q.message_id, q.position from outbox q
          where q.tenant_id = l.tenant_id and q.contact_id = l.contact_id and q.channel_id = l.channel_id and q.priority = l.priority
            and q.message_id not in (select x.message_id from leaving x)
          order by q.position limit 1) f
        where l.has_turn
      )
      select s.*, bool_and(s.is_leaving) over () as is_without_followers from steps s where s.position > reached order by s.position
    loop
      -- The delete locks them in this order as well.
      exit when step.is_without_followers and reached = 0;
      if step.is_leaving then
        select q.next_attempt_at is not null into has_turn_now from outbox q
        where q.tenant_id = step.tenant_id and q.message_id = step.message_id for update;
        is_changed := found and has_turn_now and not step.has_turn;
      else
        perform from outbox q where q.tenant_id = step.tenant_id and q.message_id = step.message_id for no key update;
        is_changed := not found;
      end if;
      reached := step.position;
      exit when is_changed;
    end loop;
  end loop;
end $$;

-- Takes messages out of the outbox and gives the turn of each to the next message of its contact and priority.
-- @param only_waiting leaves those alone that were handed to the network, or may have been; the caller has locked the turns (lock_turns),
--   for this and other parts of what it takes out
create or replace function settle_outbox(tenants bigint[], messages_ uuid[], only_waiting boolean)
returns table (tenant_id bigint, message_id uuid, channel_id bigint, is_released boolean) language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  gone outbox;
  following uuid;
begin
  if not only_waiting then
    perform lock_turns(tenants, messages_, false);
  end if;
  for gone in
    delete from outbox q
    using (
      select o.tenant_id, o.message_id from unnest(tenants, messages_) u (tenant_id, message_id)
      join outbox o on o.tenant_id = u.tenant_id and o.message_id = u.message_id order by o.position
    ) g
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

-- Moves attempts to a later time, on the database's clock. `attempted` false: nothing was tried, so the attempt is not counted.
-- Fenced by the number of the attempt: where another process has begun a later one, that one stands.
create or replace function postpone_outbox(tenants bigint[], messages_ uuid[], numbers integer[], after_ms double precision[], attempted boolean[], in_doubt boolean[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  update outbox q set
    next_attempt_at = case when q.next_attempt_at is not null then clock_timestamp() + p.after_ms * interval '1 ms' end,
    attempts = q.attempts - case when p.attempted then 0 else 1 end,
    dispatched_at = case when p.in_doubt then q.dispatched_at end
  from (
    select u.* from unnest(tenants, messages_, numbers, after_ms, attempted, in_doubt)
      u (tenant_id, message_id, number, after_ms, attempted, in_doubt)
    join outbox o on o.tenant_id = u.tenant_id and o.message_id = u.message_id
    order by o.position
  ) p
  where q.tenant_id = p.tenant_id and q.message_id = p.message_id and q.attempts = p.number;
end $$;

-- Gives the turn to the first message of each contact and priority of which nobody has it. There are none unless a row was
-- changed by hand: the statements above keep the turn. Reads the whole outbox. @returns how many
create or replace function repair_turns() returns integer language plpgsql as $$
declare
  lost record;
  repaired integer := 0;
begin
  for lost in
    select * from (
      select distinct on (w.tenant_id, w.contact_id, w.channel_id, w.priority) w.tenant_id, w.message_id, w.position from outbox w
      where w.next_attempt_at is null and not exists (
        select from outbox t
        where t.tenant_id = w.tenant_id and t.contact_id = w.contact_id and t.channel_id = w.channel_id and t.priority = w.priority
          and t.next_attempt_at is not null)
      order by w.tenant_id, w.contact_id, w.channel_id, w.priority, w.position
    ) f order by f.position
  loop
    update outbox q set next_attempt_at = clock_timestamp()
    where q.tenant_id = lost.tenant_id and q.message_id = lost.message_id and q.next_attempt_at is null;
    if found then
      repaired := repaired + 1;
    end if;
  end loop;
  return repaired;
end $$;
