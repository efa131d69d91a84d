-- Messages are found in the outbox one by one, by their key, whatever the planner believes of it. Joined to a list of messages while it is
-- taken for empty, as it is whenever it was analyzed between two campaigns, the outbox was read as a whole and compared with each message
-- of the list: settle_outbox took 2.2 s for 500 of 12,000, as long as the connection kept the plan.

create or replace function lock_turns(tenants bigint[], messages_ uuid[], only_waiting boolean) returns void language plpgsql
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
        select q.* from unnest(tenants, messages_) g (tenant_id, message_id)
        cross join lateral (
          select o.tenant_id, o.message_id, o.position, o.contact_id, o.channel_id, o.priority, o.next_attempt_at is not null as has_turn
          from outbox o
          where o.tenant_id = g.tenant_id and o.message_id = g.message_id and (not only_waiting or o.dispatched_at is null) offset 0) q
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
      -- settle_outbox locks them in this order as well.
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

create or replace function settle_outbox(tenants bigint[], messages_ uuid[], only_waiting boolean)
returns table (tenant_id bigint, message_id uuid, channel_id bigint, is_released boolean) language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  leaving record;
  deleted outbox;
  gone outbox[] := '{}';
  following uuid;
begin
  if not only_waiting then
    perform lock_turns(tenants, messages_, false);
  end if;
  for leaving in
    select o.* from unnest(tenants, messages_) u (tenant_id, message_id)
    cross join lateral (
      select q.tenant_id, q.message_id, q.position from outbox q
      where q.tenant_id = u.tenant_id and q.message_id = u.message_id offset 0) o
    order by o.position
  loop
    delete from outbox q
    where q.tenant_id = leaving.tenant_id and q.message_id = leaving.message_id and (not only_waiting or q.dispatched_at is null)
    returning q.* into deleted;
    if found then
      gone := gone || deleted;
    end if;
  end loop;
  foreach deleted in array gone loop
    following := null;
    if deleted.next_attempt_at is not null then
      -- After all deletions: it sees a message that was put behind this one while they waited, and none that left with it.
      select q.message_id into following from outbox q
      where q.tenant_id = deleted.tenant_id and q.contact_id = deleted.contact_id and q.channel_id = deleted.channel_id
        and q.priority = deleted.priority
      order by q.position limit 1 for no key update;
      if following is not null then
        update outbox q set next_attempt_at = clock_timestamp() where q.tenant_id = deleted.tenant_id and q.message_id = following;
      end if;
    end if;
    tenant_id := deleted.tenant_id;
    message_id := deleted.message_id;
    channel_id := deleted.channel_id;
    is_released := following is not null;
    return next;
  end loop;
end $$;

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
      dispatched_at = case when p.in_doubt then q.dispatched_at end,
      hold_reason = p.reason
    where q.tenant_id = p.tenant_id and q.message_id = p.message_id and q.attempts = p.number;
  end loop;
end $$;
