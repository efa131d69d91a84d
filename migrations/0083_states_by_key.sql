-- As before, with one plan on PostgreSQL 15 too: planned for the first message of a month, it joined the states with the list of a batch
-- and read all states of the account for each, until the table was analyzed (24,000 rows for 1,000 messages).
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
    cross join lateral (select k.* from message_states k where k.tenant_id = u.tenant_id and k.message_id = u.id offset 0) s
    cross join lateral (select k.channel_id, k.contact_id, k.template_id, k.author, k.created_at from messages k
      where k.tenant_id = u.tenant_id and k.id = u.id offset 0) m
  ), states as (
    -- Its rows exist and are locked: a conflict finds each by its key, where a join may read all of the account.
    insert into message_states (tenant_id, message_id, status, wamid, error, sent_at, delivered_at, read_at, failed_at, updated_at, country)
    select g.tenant_id, g.id, g.status, g.wamid, g.error, g.sent_at, g.delivered_at, g.read_at, g.failed_at, g.updated_at, g.country
    from given g
    on conflict (tenant_id, message_id) do update set status = excluded.status, wamid = excluded.wamid, error = excluded.error,
      sent_at = excluded.sent_at, delivered_at = excluded.delivered_at, read_at = excluded.read_at, failed_at = excluded.failed_at,
      updated_at = excluded.updated_at, country = excluded.country
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
  left join lateral (select k.category, k.type, k.is_billable from message_pricing k
    where k.tenant_id = g.tenant_id and k.message_id = g.id offset 0) p on true
  cross join lateral (values
    (g.status, g.country, g.code, g.bucket, 1),
    (g.old_status, g.old_country, g.old_code, g.old_bucket, -1)) v (status, country, error_code, bucket, change)
  where (g.status, g.country, g.code, g.bucket) is distinct from (g.old_status, g.old_country, g.old_code, g.old_bucket) and v.status not in ('queued', 'scheduled')
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  having sum(v.change) <> 0;
end $$;
