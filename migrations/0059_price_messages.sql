-- As before, with one plan: each message is looked up by its keys. With statistics from before the tables were filled, joins on the
-- tenant alone were planned, which read all messages of the tenant (1,000 prices among 3,000 messages: 1.1 s).

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
    left join lateral (select k.message_id from message_wamids k
      where k.tenant_id = tenant and k.channel_id = u.channel_id and k.wamid = u.wamid offset 0) w on true
    order by coalesce(w.message_id, u.id), u.rank desc, u.place desc
  ) g
  left join lateral (select k.* from message_pricing k where k.tenant_id = tenant and k.message_id = g.id offset 0) p on true
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
      coalesce(case when u.rank >= coalesce(p.status_rank, 0) then coalesce(u.is_billable, p.is_billable) else p.is_billable end,
        lower(u.type) is not distinct from 'regular') as is_billable,
      greatest(u.rank, p.status_rank) as rank
    from unnest(changed.ids, changed.categories, changed.types, changed.models, changed.billables, changed.ranks)
      as u (id, category, type, model, is_billable, rank)
    cross join lateral (select k.* from message_states k where k.tenant_id = tenant and k.message_id = u.id offset 0) s
    cross join lateral (select k.channel_id, k.template_id, k.author, k.created_at from messages k
      where k.tenant_id = tenant and k.id = u.id offset 0) m
    left join lateral (select k.* from message_pricing k where k.tenant_id = tenant and k.message_id = u.id offset 0) p on true
  ), priced as (
    insert into message_pricing as p (tenant_id, message_id, category, type, model, is_billable, country, channel_id, campaign_id, occurred_at,
      status_rank, updated_at)
    select tenant, g.id, g.category, g.type, g.model, g.is_billable, g.country,
      g.channel_id, nullif(campaign_of(g.author), 0), g.created_at, g.rank, instant
    from given g order by g.id
    on conflict (tenant_id, message_id) do update set category = excluded.category, type = excluded.type, model = excluded.model,
      is_billable = excluded.is_billable, country = coalesce(p.country, excluded.country), status_rank = excluded.status_rank,
      updated_at = excluded.updated_at
  )
  insert into message_statistics_pending (tenant_id, hour, channel_id, template_id, campaign_id, author, status, country, category, pricing_type, is_billable,
    error_code, delivery_bucket, messages)
  select tenant, date_trunc('hour', g.created_at, 'UTC'), g.channel_id, coalesce(g.template_id, 0), campaign_of(g.author), coalesce(g.author->>'kind', ''), g.status,
    coalesce(g.country, ''), coalesce(v.category, ''), coalesce(v.type, ''), coalesce(v.is_billable, false), g.error_code, g.bucket, sum(v.change)
  from given g
  cross join lateral (values (g.category, g.type, g.is_billable, 1), (g.old_category, g.old_type, g.old_billable, -1))
    v (category, type, is_billable, change)
  where g.status not in ('queued', 'scheduled')
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  having sum(v.change) <> 0;
end $$;
