-- Accepting messages in batches.

-- One row a month instead of 64: the counters are written once a batch, and the limits are those of the plan at that moment. The
-- checks are the limit, decided by the database.
update monthly_usage u set messages = s.messages, conversations = s.conversations, messages_granted = null, conversations_granted = null
from (select tenant_id, month, sum(messages) as messages, sum(conversations) as conversations, min(shard) as shard
      from monthly_usage group by tenant_id, month) s
where u.tenant_id = s.tenant_id and u.month = s.month and u.shard = s.shard;
delete from monthly_usage u where u.shard > (
  select min(o.shard) from monthly_usage o where o.tenant_id = u.tenant_id and o.month = u.month);
alter table monthly_usage drop constraint monthly_usage_pkey;
alter table monthly_usage drop column shard;
alter table monthly_usage add primary key (tenant_id, month);
alter table monthly_usage set (fillfactor = 25);

-- Puts messages into the outbox, in order: each with the turn, unless an earlier message of its contact, channel and priority waits. The
-- caller holds the locks of the contacts (for no key update). The lock on the last row of each queue makes the transaction that settles
-- it wait, so that it sees what is put behind it. Lock order: rows of the outbox by position.
create function enqueue_messages(tenant bigint, channels_ bigint[], contacts_ bigint[], messages_ uuid[], urgencies smallint[], secrets bytea[])
returns integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  found_ integer;
  locked_ integer;
begin
  -- A row that is gone when its lock comes may have another one before it: look again.
  loop
    with tails as materialized (
      select t.message_id, t.position
      from (select distinct u.contact_id, u.channel_id, u.priority from unnest(contacts_, channels_, urgencies) u (contact_id, channel_id, priority)) g
      cross join lateral (
        select q.message_id, q.position from outbox q
        where q.tenant_id = tenant and q.contact_id = g.contact_id and q.channel_id = g.channel_id and q.priority = g.priority
        order by q.position desc limit 1) t
    ), locked as materialized (
      select q.message_id from (select t.message_id, t.position from tails t order by t.position) t
      join outbox q on q.tenant_id = tenant and q.message_id = t.message_id order by t.position for key share of q
    )
    select (select count(*) from tails), (select count(*) from locked) into found_, locked_;
    exit when found_ = locked_;
  end loop;
  insert into outbox (tenant_id, channel_id, contact_id, message_id, priority, next_attempt_at, sealed)
  select tenant, u.channel_id, u.contact_id, u.message_id, u.priority,
    case when u.nth = 1 and (found_ = 0 or not exists (
      select from outbox q where q.tenant_id = tenant and q.contact_id = u.contact_id and q.channel_id = u.channel_id and q.priority = u.priority))
      then clock_timestamp() end, u.secret
  from (
    select w.*, row_number() over (partition by w.contact_id, w.channel_id, w.priority order by w.place) as nth
    from unnest(channels_, contacts_, messages_, urgencies, secrets) with ordinality w (channel_id, contact_id, message_id, priority, secret, place)
  ) u order by u.place;
  return cardinality(messages_);
end $$;
