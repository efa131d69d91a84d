-- Prices of messages as the network reports them, and statistics by the hour.

-- Country of the recipient's or sender's number (ISO 3166-1 alpha-2), set with the first status and never changed: statistics count by it.
alter table message_states add column country text;

-- One row for each priced message: what costs are listed by.
alter table message_pricing
  add column country text,
  add column channel_id bigint,
  add column occurred_at timestamptz(3),               -- acceptance of the message: reports of costs go by it
  add column status_rank smallint not null default 0;  -- of the status that the values come from: later statuses win, in whatever order they arrive
delete from message_pricing p where not exists (select from messages m where m.tenant_id = p.tenant_id and m.id = p.message_id);
update message_pricing p set channel_id = m.channel_id, occurred_at = m.created_at,
  is_billable = coalesce(p.is_billable, lower(p.type) is not distinct from 'regular')
from messages m where m.tenant_id = p.tenant_id and m.id = p.message_id;
alter table message_pricing
  alter column channel_id set not null, alter column occurred_at set not null, alter column is_billable set not null;
create index message_pricing_by_time on message_pricing (tenant_id, occurred_at, message_id);

-- Messages by the hour of their acceptance and what they are now. Each message counts under one key. Messages that wait to be sent
-- are not in it: count those in message_updates.
drop table message_statistics;
create table message_statistics (
  tenant_id bigint not null,
  hour timestamptz(3) not null,
  channel_id bigint not null,
  template_id bigint not null,       -- 0: none
  campaign_id bigint not null,       -- 0: none
  author text not null,              -- kind of the author; '': none. As country, category and pricing_type
  status text not null,
  country text not null,
  category text not null,            -- in the network's words
  pricing_type text not null,
  is_billable boolean not null,
  error_code integer not null,       -- -1: has not failed
  messages bigint not null,
  primary key (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, error_code)
) with (fillfactor = 50);

-- Delivered messages by the time that their delivery took: delivery_bucket has the scale.
create table delivery_statistics (
  tenant_id bigint not null,
  hour timestamptz(3) not null,
  channel_id bigint not null,
  template_id bigint not null,
  campaign_id bigint not null,
  author text not null,
  status text not null,
  country text not null,
  category text not null,
  pricing_type text not null,
  is_billable boolean not null,
  delivery_bucket smallint not null,
  messages bigint not null,
  primary key (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable, delivery_bucket)
) with (fillfactor = 50);

-- Changes that are not yet in the two tables above. Transactions only append here, so none waits for another; a chore moves the rows.
-- Readers add both, so a number is exact at any time.
create table message_statistics_pending (
  tenant_id bigint not null,
  id bigint generated always as identity,
  hour timestamptz(3) not null,
  channel_id bigint not null,
  template_id bigint not null default 0,
  campaign_id bigint not null default 0,
  author text not null default '',
  status text not null,
  country text not null default '',
  category text not null default '',
  pricing_type text not null default '',
  is_billable boolean not null default false,
  error_code integer not null default -1,
  delivery_bucket smallint not null default -1,
  messages bigint not null,
  primary key (tenant_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The time from the network's acceptance (or ours, if that is not known) to delivery, in steps of 25 %: bucket b is from 1.25^b ms to
-- less than 1.25^(b + 1) ms. -1: not delivered, or imported without a time of its own.
create function delivery_bucket(author jsonb, created timestamptz, sent timestamptz, delivered timestamptz) returns smallint
language sql immutable parallel safe
  return case when delivered is null or (author is null and delivered is not distinct from sent) then -1
    else floor(ln(greatest(extract(epoch from delivered - coalesce(sent, created)) * 1000, 1)::double precision) / ln(1.25::double precision) + 1e-9) end::smallint;

-- The network's code of a failed message; 0: refused by this gateway; -1: has not failed.
create function failure_code(status text, error jsonb) returns integer language sql immutable parallel safe
  return case when status = 'failed' then coalesce((error->>'code')::integer, 0) else -1 end;

insert into message_statistics
select m.tenant_id, date_trunc('hour', m.created_at, 'UTC'), m.channel_id, coalesce(m.template_id, 0), 0, coalesce(m.author->>'kind', ''), s.status, '',
  coalesce(p.category, ''), coalesce(p.type, ''), coalesce(p.is_billable, false), failure_code(s.status, s.error), count(*)
from messages m
join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id and s.status <> 'queued'
left join message_pricing p on p.tenant_id = m.tenant_id and p.message_id = m.id
group by 1, 2, 3, 4, 6, 7, 9, 10, 11, 12;
insert into delivery_statistics
select m.tenant_id, date_trunc('hour', m.created_at, 'UTC'), m.channel_id, coalesce(m.template_id, 0), 0, coalesce(m.author->>'kind', ''), s.status, '',
  coalesce(p.category, ''), coalesce(p.type, ''), coalesce(p.is_billable, false), delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at), count(*)
from messages m
join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id and s.status <> 'queued'
left join message_pricing p on p.tenant_id = m.tenant_id and p.message_id = m.id
where delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at) >= 0
group by 1, 2, 3, 4, 6, 7, 9, 10, 11, 12;

-- Writes states that were read under lock_outbound, one row for each message, with all that lists and statistics know of them.
drop function write_message_states(smallint, bigint[], uuid[], text[], text[], jsonb[], timestamptz[], timestamptz[], timestamptz[], timestamptz[], timestamptz[]);
create function write_message_states(tenants bigint[], ids uuid[], statuses_ text[], wamids text[], errors jsonb[], sent timestamptz[],
  delivered timestamptz[], read_ timestamptz[], failed timestamptz[], updated timestamptz[], countries text[])
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  with given as materialized (
    select u.tenant_id, u.id, u.status, u.wamid, u.error, u.sent_at, u.delivered_at, u.read_at, u.failed_at, u.updated_at,
      coalesce(s.country, u.country) as country, m.channel_id, m.contact_id, m.template_id, m.author, m.created_at, s.status as old_status,
      s.updated_at as old_updated_at, s.wamid as old_wamid, s.country as old_country,
      failure_code(u.status, u.error) as code, failure_code(s.status, s.error) as old_code,
      delivery_bucket(m.author, m.created_at, u.sent_at, u.delivered_at) as bucket,
      delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at) as old_bucket
    from unnest(tenants, ids, statuses_, wamids, errors, sent, delivered, read_, failed, updated, countries)
      as u (tenant_id, id, status, wamid, error, sent_at, delivered_at, read_at, failed_at, updated_at, country)
    join message_states s on s.tenant_id = u.tenant_id and s.message_id = u.id
    join messages m on m.tenant_id = u.tenant_id and m.id = u.id
  ), states as (
    update message_states s set status = g.status, wamid = g.wamid, error = g.error, sent_at = g.sent_at, delivered_at = g.delivered_at,
      read_at = g.read_at, failed_at = g.failed_at, updated_at = g.updated_at, country = g.country
    from given g where s.tenant_id = g.tenant_id and s.message_id = g.id
  ), updates as (
    update message_updates c set status = g.status, updated_at = g.updated_at
    from given g where c.tenant_id = g.tenant_id and c.updated_at = g.old_updated_at and c.message_id = g.id
      and (g.updated_at, g.status) is distinct from (g.old_updated_at, g.old_status)
  ), known as (
    insert into message_wamids (tenant_id, channel_id, wamid, message_id)
    select g.tenant_id, g.channel_id, g.wamid, g.id from given g where g.wamid is not null and g.old_wamid is null
    order by g.tenant_id, g.channel_id, g.wamid
    on conflict do nothing
  ), failures as (
    insert into message_failures (tenant_id, failed_at, message_id, code, channel_id, contact_id, template_id)
    select g.tenant_id, g.failed_at, g.id, g.code, g.channel_id, g.contact_id, g.template_id
    from given g where g.status = 'failed' and g.old_status <> 'failed'
    on conflict do nothing
  )
  insert into message_statistics_pending (tenant_id, hour, channel_id, template_id, author, status, country, category, pricing_type, is_billable,
    error_code, delivery_bucket, messages)
  select g.tenant_id, date_trunc('hour', g.created_at, 'UTC'), g.channel_id, coalesce(g.template_id, 0), coalesce(g.author->>'kind', ''), v.status,
    coalesce(v.country, ''), coalesce(p.category, ''), coalesce(p.type, ''), coalesce(p.is_billable, false), v.error_code, v.bucket, sum(v.change)
  from given g
  left join message_pricing p on p.tenant_id = g.tenant_id and p.message_id = g.id
  cross join lateral (values
    (g.status, g.country, g.code, g.bucket, 1),
    (g.old_status, g.old_country, g.old_code, g.old_bucket, -1)) v (status, country, error_code, bucket, change)
  where (g.status, g.country, g.code, g.bucket) is distinct from (g.old_status, g.old_country, g.old_code, g.old_bucket) and v.status not in ('queued', 'scheduled')
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  having sum(v.change) <> 0;
end $$;

-- Stores prices of messages that are known by our id or the network's, and moves the messages in the statistics. A message has one
-- price: of several statuses the furthest counts, and what it lacks comes from the others. Repeated prices write nothing.
-- @param ids null where only the network's id is known
create function price_messages(tenant bigint, ids uuid[], channels bigint[], wamids text[], categories text[], types text[], models text[],
  billables boolean[], ranks smallint[], instant timestamptz)
returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  changed record;
begin
  select array_agg(g.id) as ids, array_agg(g.category) as categories, array_agg(g.type) as types, array_agg(g.model) as models,
    array_agg(g.is_billable) as billables, array_agg(g.rank) as ranks
  into changed
  from (
    select distinct on (coalesce(w.message_id, u.id)) coalesce(w.message_id, u.id) as id, u.category, u.type, u.model, u.is_billable, u.rank
    from unnest(ids, channels, wamids, categories, types, models, billables, ranks)
      with ordinality as u (id, channel_id, wamid, category, type, model, is_billable, rank, place)
    left join message_wamids w on w.tenant_id = tenant and w.channel_id = u.channel_id and w.wamid = u.wamid
    order by coalesce(w.message_id, u.id), u.rank desc, u.place desc
  ) g
  left join message_pricing p on p.tenant_id = tenant and p.message_id = g.id
  where g.id is not null and (p.message_id is null or case when g.rank >= p.status_rank
    then (coalesce(g.category, p.category), coalesce(g.type, p.type), coalesce(g.model, p.model), coalesce(g.is_billable, p.is_billable))
    else (coalesce(p.category, g.category), coalesce(p.type, g.type), coalesce(p.model, g.model), p.is_billable)
  end is distinct from (p.category, p.type, p.model, p.is_billable));
  if changed.ids is null then
    return;
  end if;
  -- Most are locked already, by the statuses that the prices came with.
  perform lock_states(array_fill(tenant, array[cardinality(changed.ids)]), changed.ids);
  with given as materialized (
    select u.id, m.channel_id, m.template_id, m.author, m.created_at, s.status, s.country, failure_code(s.status, s.error) as error_code,
      delivery_bucket(m.author, m.created_at, s.sent_at, s.delivered_at) as bucket,
      p.category as old_category, p.type as old_type, p.is_billable as old_billable,
      case when u.rank >= coalesce(p.status_rank, 0) then coalesce(u.category, p.category) else coalesce(p.category, u.category) end as category,
      case when u.rank >= coalesce(p.status_rank, 0) then coalesce(u.type, p.type) else coalesce(p.type, u.type) end as type,
      case when u.rank >= coalesce(p.status_rank, 0) then coalesce(u.model, p.model) else coalesce(p.model, u.model) end as model,
      case when u.rank >= coalesce(p.status_rank, 0) then coalesce(u.is_billable, p.is_billable) else p.is_billable end as is_billable,
      greatest(u.rank, p.status_rank) as rank
    from unnest(changed.ids, changed.categories, changed.types, changed.models, changed.billables, changed.ranks)
      as u (id, category, type, model, is_billable, rank)
    join message_states s on s.tenant_id = tenant and s.message_id = u.id
    join messages m on m.tenant_id = tenant and m.id = u.id
    left join message_pricing p on p.tenant_id = tenant and p.message_id = u.id
  ), priced as (
    insert into message_pricing as p (tenant_id, message_id, category, type, model, is_billable, country, channel_id, occurred_at, status_rank, updated_at)
    select tenant, g.id, g.category, g.type, g.model, coalesce(g.is_billable, lower(g.type) is not distinct from 'regular'), g.country,
      g.channel_id, g.created_at, g.rank, instant
    from given g order by g.id
    on conflict (tenant_id, message_id) do update set category = excluded.category, type = excluded.type, model = excluded.model,
      is_billable = excluded.is_billable, country = coalesce(p.country, excluded.country), status_rank = excluded.status_rank,
      updated_at = excluded.updated_at
    returning p.message_id, p.is_billable
  )
  insert into message_statistics_pending (tenant_id, hour, channel_id, template_id, author, status, country, category, pricing_type, is_billable,
    error_code, delivery_bucket, messages)
  select tenant, date_trunc('hour', g.created_at, 'UTC'), g.channel_id, coalesce(g.template_id, 0), coalesce(g.author->>'kind', ''), g.status,
    coalesce(g.country, ''), coalesce(v.category, ''), coalesce(v.type, ''), coalesce(v.is_billable, false), g.error_code, g.bucket, sum(v.change)
  from given g
  join priced n on n.message_id = g.id
  cross join lateral (values (g.category, g.type, n.is_billable, 1), (g.old_category, g.old_type, g.old_billable, -1))
    v (category, type, is_billable, change)
  where g.status not in ('queued', 'scheduled')
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  having sum(v.change) <> 0;
end $$;
