-- As before, with one plan: each queue is looked up by its key. Planned while the outbox was empty, both statements read all that waits of
-- the tenant once a batch (19,500 rows for 51 messages), and compared each of it with each message, until autovacuum came by.
create or replace function enqueue_messages(tenant bigint, channels_ bigint[], contacts_ bigint[], messages_ uuid[], urgencies smallint[], secrets bytea[])
returns integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_sort = off
as $$
declare
  found_ integer;
  locked_ integer;
begin
  -- A row that is gone when its lock comes may have another one before it: look again.
  loop
    -- "order by … limit 1" keeps a look-up a look-up: no join and no hashed subplan replaces it, and only the index of the queues has the order.
    with tails as materialized (
      select g.*, t.position
      from (select distinct u.contact_id, u.channel_id, u.priority from unnest(contacts_, channels_, urgencies) u (contact_id, channel_id, priority)) g
      cross join lateral (
        select q.position from outbox q
        where q.tenant_id = tenant and q.contact_id = g.contact_id and q.channel_id = g.channel_id and q.priority = g.priority
        order by q.position desc limit 1) t
    ), locked as materialized (
      select from (select * from tails order by position) t
      cross join lateral (
        select from outbox q
        where q.tenant_id = tenant and q.contact_id = t.contact_id and q.channel_id = t.channel_id and q.priority = t.priority and q.position >= t.position
        order by q.position limit 1 for key share) q
    )
    select (select count(*) from tails), (select count(*) from locked) into found_, locked_;
    exit when found_ = locked_;
  end loop;
  insert into outbox (tenant_id, channel_id, contact_id, message_id, priority, next_attempt_at, sealed)
  select tenant, u.channel_id, u.contact_id, u.message_id, u.priority,
    case when u.nth = 1 and (found_ = 0 or (
      select q.position from outbox q
      where q.tenant_id = tenant and q.contact_id = u.contact_id and q.channel_id = u.channel_id and q.priority = u.priority
      order by q.position desc limit 1) is null)
      then clock_timestamp() end, u.secret
  from (
    select w.*, row_number() over (partition by w.contact_id, w.channel_id, w.priority order by w.place) as nth
    from unnest(channels_, contacts_, messages_, urgencies, secrets) with ordinality w (channel_id, contact_id, message_id, priority, secret, place)
  ) u order by u.place;
  return cardinality(messages_);
end $$;
