-- Messages whose tries or waits begin anew are written one by one, by their key, whatever the planner believes of the outbox. Analyzed
-- while it had a few messages of different tenants, a tenant was expected to have one: the outbox was compared with the whole list, for
-- 25 s with 20,000 of 500,000 messages. Lock order as in lock_turns: by position.

create function begin_tries_anew(lane_tenant bigint, lane_channel bigint) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  tried uuid;
begin
  for tried in
    select o.message_id from outbox o
    where o.tenant_id = lane_tenant and o.channel_id = lane_channel and o.next_attempt_at is not null and o.first_tried_at is not null
    order by o.position for no key update
  loop
    update outbox o set first_tried_at = null where o.tenant_id = lane_tenant and o.message_id = tried;
  end loop;
end $$;

create function extend_doubt(lane_tenant bigint, lane_channel bigint) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  doubtful uuid;
begin
  for doubtful in
    select o.message_id from outbox o
    where o.tenant_id = lane_tenant and o.channel_id = lane_channel and o.next_attempt_at is not null and o.dispatched_at is not null
    order by o.position for no key update
  loop
    update outbox o set dispatched_at = clock_timestamp() where o.tenant_id = lane_tenant and o.message_id = doubtful;
  end loop;
end $$;
