-- The message that sends a failed one again: one for each, however many requests ask for it at the same time. Written by a trigger, so
-- that every way of accepting messages keeps the promise; messages has no index on retry_of.
create table message_retries (
  tenant_id bigint not null references tenants on delete cascade,
  message_id uuid not null,          -- the failed message
  retry_id uuid not null,
  primary key (tenant_id, message_id)
);

create function note_retry() returns trigger language plpgsql as $$
begin
  insert into message_retries (tenant_id, message_id, retry_id) values (new.tenant_id, new.retry_of, new.id);
  return null;
end $$;
create trigger messages_retried after insert on messages for each row when (new.retry_of is not null) execute function note_retry();

-- As before, and the retry of a message goes with it.
create or replace function delete_message_details() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  g record;
  network_id text;
begin
  -- One by one, by their keys: see delete_message_storage.
  for g in select tenant_id, channel_id, id from gone loop
    select s.wamid into network_id from message_states s where s.tenant_id = g.tenant_id and s.message_id = g.id;
    if network_id is not null then
      delete from message_edits e where e.tenant_id = g.tenant_id and e.channel_id = g.channel_id and e.original_wamid = network_id;
      delete from message_reactions r where r.tenant_id = g.tenant_id and r.channel_id = g.channel_id and r.original_wamid = network_id;
    end if;
    delete from message_details d where d.tenant_id = g.tenant_id and d.message_id = g.id;
    delete from message_pricing p where p.tenant_id = g.tenant_id and p.message_id = g.id;
    delete from message_retries r where r.tenant_id = g.tenant_id and r.message_id = g.id;
  end loop;
  return null;
end $$;
