-- A standby that replicated asynchronously lacks the last commits when it is promoted: messages that the network has accepted are in the
-- outbox again. Each process writes what it still knows of its calls on the new timeline of the WAL, before any of them claims messages.

alter table lane_processes add column timeline integer;  -- the timeline on which the process has done so; null: the server shows none

-- Messages whose calls may have been accepted, but whose claims are lost: they wait for their statuses. One by one, by their keys, whatever
-- the planner believes of the outbox. Lock order as in lock_turns: by position.
create function mark_in_doubt(tenants bigint[], messages_ uuid[], numbers integer[]) returns integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  m record;
  marked integer := 0;
begin
  for m in
    select u.* from unnest(tenants, messages_, numbers) u (tenant_id, message_id, number)
    cross join lateral (
      select q.position from outbox q
      where q.tenant_id = u.tenant_id and q.message_id = u.message_id and q.next_attempt_at is not null and q.dispatched_at is null
      offset 0) o
    order by o.position
  loop
    update outbox q set dispatched_at = clock_timestamp(), attempts = m.number, first_tried_at = coalesce(q.first_tried_at, clock_timestamp())
    where q.tenant_id = m.tenant_id and q.message_id = m.message_id and q.next_attempt_at is not null and q.dispatched_at is null
      and q.attempts <= m.number;
    if found then marked := marked + 1; end if;
  end loop;
  return marked;
end $$;
