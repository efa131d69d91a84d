-- A digest of the channels that a webhook names by the ids of numbers and of accounts (business accounts, portfolios): the statement that stores
-- webhooks verifies that these are still the channels whose secrets were tried. A disconnected number still receives its own webhooks,
-- for statuses of sent messages, until another tenant connects it, but not those of its business account or portfolio.
create function webhook_owners(numbers text[], accounts text[])
returns table (tenant_id bigint, channel_id bigint, phone_number_id text, waba_id text, portfolio_id text, display_phone_number text,
  app_secret_sealed bytea)
language plpgsql stable rows 1
-- By one index for each kind of id, whatever the tables' statistics; joined by "or", the query scans all channels (1.2 ms for 2,000).
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
    with found as (
      select n.tenant_id, n.channel_id from unnest(numbers) as p (id)
      cross join lateral (select n.tenant_id, n.channel_id from channel_numbers n where n.phone_number_id = p.id offset 0) n
      union
      select c.tenant_id, c.id from unnest(accounts) as a (id)
      cross join lateral (select c.tenant_id, c.id, c.status from channels c where c.waba_id = a.id offset 0) c
      where c.status <> 'disconnected'
      union
      select c.tenant_id, c.id from unnest(accounts) as a (id)
      cross join lateral (
        select c.tenant_id, c.id, c.status from channels c where c.portfolio_id = a.id and c.portfolio_id is not null offset 0) c
      where c.status <> 'disconnected'
    )
    select c.tenant_id, c.id, c.phone_number_id, c.waba_id, c.portfolio_id, c.display_phone_number, c.app_secret_sealed
    from found f
    cross join lateral (select c.* from channels c where c.tenant_id = f.tenant_id and c.id = f.channel_id offset 0) c
    order by c.tenant_id, c.id;
end $$;

create function webhook_owners_version(numbers text[], accounts text[]) returns text language plpgsql stable
as $$
begin
  return encode(sha256(convert_to(coalesce((select string_agg(o::text, ' ' order by o.tenant_id, o.channel_id)
    from webhook_owners(numbers, accounts) o), ''), 'UTF8')), 'hex');
end $$;
