-- Costs and statistics of campaigns: a campaign is the author of its messages.

-- The campaign that sent a message; 0: none.
create function campaign_of(author jsonb) returns bigint language sql immutable parallel safe
  return case when author->>'kind' = 'campaign' then coalesce((author->>'id')::bigint, 0) else 0 end;

alter table message_pricing add column campaign_id bigint;   -- null: none
create index message_pricing_by_campaign on message_pricing (tenant_id, campaign_id, message_id) where campaign_id is not null;

-- As before, with the campaign.
create or replace function write_message_states(tenants bigint[], ids uuid[], statuses_ text[], wamids text[], errors jsonb[], sent timestamptz[],
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
  insert into message_statistics_pending (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable,
    error_code, delivery_bucket, messages)
  select g.tenant_id, date_trunc('hour', g.created_at, 'UTC'), g.channel_id, coalesce(g.template_id, 0), campaign_of(g.author), coalesce(g.author->>'kind', ''), v.status,
    coalesce(v.country, ''), coalesce(p.category, ''), coalesce(p.type, ''), coalesce(p.is_billable, false), v.error_code, v.bucket, sum(v.change)
  from given g
  left join message_pricing p on p.tenant_id = g.tenant_id and p.message_id = g.id
  cross join lateral (values
    (g.status, g.country, g.code, g.bucket, 1),
    (g.old_status, g.old_country, g.old_code, g.old_bucket, -1)) v (status, country, error_code, bucket, change)
  where (g.status, g.country, g.code, g.bucket) is distinct from (g.old_status, g.old_country, g.old_code, g.old_bucket) and v.status not in ('queued', 'scheduled')
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  having sum(v.change) <> 0;
end $$;

-- Stores prices of messages that are known by our id or the network's, and moves the messages in the statistics. A message has one
-- price: of several statuses the furthest counts, and what it lacks comes from the others. Repeated prices write nothing.
-- @param ids null where only the network's id is known
create or replace function price_messages(tenant bigint, ids uuid[], channels bigint[], wamids text[], categories text[], types text[], models text[],
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
    insert into message_pricing as p (tenant_id, message_id, category, type, model, is_billable, country, channel_id, campaign_id, occurred_at,
      status_rank, updated_at)
    select tenant, g.id, g.category, g.type, g.model, coalesce(g.is_billable, lower(g.type) is not distinct from 'regular'), g.country,
      g.channel_id, nullif(campaign_of(g.author), 0), g.created_at, g.rank, instant
    from given g order by g.id
    on conflict (tenant_id, message_id) do update set category = excluded.category, type = excluded.type, model = excluded.model,
      is_billable = excluded.is_billable, country = coalesce(p.country, excluded.country), status_rank = excluded.status_rank,
      updated_at = excluded.updated_at
    returning p.message_id, p.is_billable
  )
  insert into message_statistics_pending (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable,
    error_code, delivery_bucket, messages)
  select tenant, date_trunc('hour', g.created_at, 'UTC'), g.channel_id, coalesce(g.template_id, 0), campaign_of(g.author), coalesce(g.author->>'kind', ''), g.status,
    coalesce(g.country, ''), coalesce(v.category, ''), coalesce(v.type, ''), coalesce(v.is_billable, false), g.error_code, g.bucket, sum(v.change)
  from given g
  join priced n on n.message_id = g.id
  cross join lateral (values (g.category, g.type, n.is_billable, 1), (g.old_category, g.old_type, g.old_billable, -1))
    v (category, type, is_billable, change)
  where g.status not in ('queued', 'scheduled')
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  having sum(v.change) <> 0;
end $$;
