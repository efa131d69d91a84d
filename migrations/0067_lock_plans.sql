-- As before, with one plan: each message is looked up by its key, in the order of the locks. Planned for empty tables, PostgreSQL 15
-- read all messages of a month for each call, and all contacts of the tenant for each message, until the tables were analyzed.
create or replace function lock_outbound(tenants bigint[], messages_ uuid[], waits boolean)
returns table (tenant_id bigint, id uuid, conversation_id bigint, contact_id bigint, channel_id bigint, direction text, type text, body text,
  content jsonb, status text, error jsonb, wamid text, reply_to_wamid text, sent_at timestamptz, delivered_at timestamptz, read_at timestamptz,
  failed_at timestamptz, created_at timestamptz, updated_at timestamptz, author jsonb, template_id bigint, echo_id text, retry_of uuid,
  contact jsonb)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  if not waits then
    -- The same once more, but for its lock clause, which takes no parameter.
    return query
      select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
        m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at, m.author, m.template_id, m.echo_id, m.retry_of,
        case when c.id is not null then jsonb_build_object('id', c.id, 'firstname', c.firstname, 'lastname', c.lastname, 'phone', c.phone) end
      from (select u.tenant_id, u.message_id from unnest(tenants, messages_) u (tenant_id, message_id) order by 1, 2) g
      cross join lateral (select k.* from messages k
        where k.tenant_id = g.tenant_id and k.id = g.message_id and k.direction = 'outbound' offset 0) m
      cross join lateral (select k.* from message_states k
        where k.tenant_id = m.tenant_id and k.message_id = m.id for update skip locked) s
      left join lateral (select k.* from contacts k where k.tenant_id = m.tenant_id and k.id = m.contact_id offset 0) c on true;
    return;
  end if;
  return query
    select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
      m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at, m.author, m.template_id, m.echo_id, m.retry_of,
      case when c.id is not null then jsonb_build_object('id', c.id, 'firstname', c.firstname, 'lastname', c.lastname, 'phone', c.phone) end
    from (select u.tenant_id, u.message_id from unnest(tenants, messages_) u (tenant_id, message_id) order by 1, 2) g
    cross join lateral (select k.* from messages k
      where k.tenant_id = g.tenant_id and k.id = g.message_id and k.direction = 'outbound' offset 0) m
    cross join lateral (select k.* from message_states k where k.tenant_id = m.tenant_id and k.message_id = m.id for update) s
    left join lateral (select k.* from contacts k where k.tenant_id = m.tenant_id and k.id = m.contact_id offset 0) c on true;
end $$;

create or replace function lock_states(tenants bigint[], messages_ uuid[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  perform from (select u.tenant_id, u.message_id from unnest(tenants, messages_) u (tenant_id, message_id) order by 1, 2) g
  cross join lateral (select from message_states k where k.tenant_id = g.tenant_id and k.message_id = g.message_id for update) s;
end $$;
