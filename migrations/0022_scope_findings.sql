-- Webhook endpoints, bots and integrations from before the scopes of their creator were checked against what they do. They keep
-- working; `parley migrate` lists each once, for a person to look at.
create table scope_findings (
  tenant_id bigint not null references tenants on delete cascade,
  kind text not null check (kind in ('webhook_endpoint', 'bot', 'integration')),
  object_id bigint not null,
  name text not null,            -- address of an endpoint, name of a bot or an integration
  scopes text[] not null,        -- what creating it needs now
  tokens text[] not null,        -- names of the tenant's tokens that could have created it without these scopes
  listed_at timestamptz(3),
  primary key (tenant_id, kind, object_id)
);

insert into scope_findings (tenant_id, kind, object_id, name, scopes, tokens)
with resources (resource, scope) as (
  values ('bot', 'bots:read'), ('contact', 'contacts:read'), ('group', 'groups:read'), ('source', 'sources:read'), ('status', 'statuses:read'),
    ('message', 'messages:read'), ('channel', 'channels:read'), ('template', 'templates:read'), ('otp', 'messages:read'),
    ('webhook', 'webhooks:read'), ('order', 'integrations:read')
), found as (
  select w.tenant_id, 'webhook_endpoint' as kind, w.id, w.url as name, 'webhooks:write' as writes,
    (select array_agg(distinct r.scope order by r.scope) from resources r
     where '*' = any(w.events) or r.resource = any(select split_part(event, '.', 1) from unnest(w.events) as event)) as scopes
  from webhook_endpoints w
  union all
  select b.tenant_id, 'bot', b.id, b.name, 'bots:write', array['messages:send'] from bots b
  union all
  select i.tenant_id, 'integration', i.id, i.name, 'integrations:write',
    array['contacts:write']
      || case when exists (select from integration_mapping_groups g join integration_mappings m on m.tenant_id = g.tenant_id and m.id = g.mapping_id
                           where m.tenant_id = i.tenant_id and m.integration_id = i.id) then array['groups:write'] else '{}' end
      || case when exists (select from integration_mappings m
                           where m.tenant_id = i.tenant_id and m.integration_id = i.id and m.template is not null)
              then array['messages:send'] else '{}' end
  from integrations i
  where exists (select from integration_mappings m where m.tenant_id = i.tenant_id and m.integration_id = i.id)
)
select f.tenant_id, f.kind, f.id, f.name, coalesce(f.scopes, '{}'),
  coalesce((select array_agg(t.name order by t.id) from access_tokens t
            where t.tenant_id = f.tenant_id and f.writes = any(t.scopes) and not t.scopes @> f.scopes), '{}')
from found f;
