-- Messages that are sent later. They wait in the outbox with a priority of their own and without next_attempt_at, so that they stand in
-- no index of a lane and have no turn: a claim costs the same however many there are. What cancels, moves or deletes waiting messages
-- finds them there.

alter table message_states drop constraint message_states_status_check;
alter table message_states add constraint message_states_status_check
  check (status in ('scheduled', 'queued', 'sent', 'delivered', 'read', 'failed', 'cancelled', 'received'));

alter table messages add column scheduled_at timestamptz(3);      -- when it is, or was, to be sent

alter table outbox drop constraint outbox_priority_check;
alter table outbox
  add constraint outbox_priority_check check (priority between 0 and 4),  -- 4: scheduled
  add column due_at timestamptz(3),                                       -- of a scheduled message
  add column is_window_required boolean not null default false,           -- scheduled: fails if the service window is closed then
  add constraint outbox_scheduled_check check ((priority = 4) = (due_at is not null));
create index outbox_scheduled on outbox (due_at, position) where priority = 4;

-- As before, without scheduled messages, which have no turns.
create or replace function repair_turns() returns integer language plpgsql as $$
declare
  lost record;
  repaired integer := 0;
begin
  for lost in
    select * from (
      select distinct on (w.tenant_id, w.contact_id, w.channel_id, w.priority) w.tenant_id, w.message_id, w.position from outbox w
      where w.next_attempt_at is null and w.priority < 4 and not exists (
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
