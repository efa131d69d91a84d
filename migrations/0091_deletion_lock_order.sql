-- A deletion of messages locks the state of each before the other rows, as every change of a message does. It locked them the other way
-- round, which ended in a deadlock with a mark as read; and it read the state without a lock, so that a change that committed meanwhile
-- left rows of a deleted message: its change, or its failure. Lock order: message_states by id.

create or replace function delete_message_storage() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  g record;
  s message_states;
begin
  perform settle_outbox(array_agg(d.tenant_id), array_agg(d.id), false) from gone d;
  -- One by one, by their keys: without statistics a join of the three walks all ids of a channel for each message.
  for g in select tenant_id, channel_id, id from gone order by tenant_id, id loop
    select t.* into s from message_states t where t.tenant_id = g.tenant_id and t.message_id = g.id for update;
    continue when not found;
    delete from message_wamids w where w.tenant_id = g.tenant_id and w.channel_id = g.channel_id and w.wamid = s.wamid;
    delete from message_updates c where c.tenant_id = g.tenant_id and c.updated_at = s.updated_at and c.message_id = g.id;
    delete from message_failures f where f.tenant_id = g.tenant_id and f.failed_at = s.failed_at and f.message_id = g.id;
    delete from message_states t where t.tenant_id = g.tenant_id and t.message_id = g.id;
  end loop;
  return null;
end $$;
