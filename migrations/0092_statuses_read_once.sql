-- The messages of statuses, which are locked after the contacts of reactions among them: storing a reaction takes a lock on its contact,
-- for which a merge would wait with the message locked. Few messages are reactions: all are read once, and only if there are some, their
-- contacts are locked and all are read again, because a merge that was waited for gives its messages another contact.
create function lock_outbound_after_contacts(tenants bigint[], messages_ uuid[])
returns table (tenant_id bigint, id uuid, conversation_id bigint, contact_id bigint, channel_id bigint, direction text, type text, body text,
  content jsonb, status text, error jsonb, wamid text, reply_to_wamid text, sent_at timestamptz, delivered_at timestamptz, read_at timestamptz,
  failed_at timestamptz, created_at timestamptz, updated_at timestamptz, author jsonb, template_id bigint, echo_id text, retry_of uuid,
  contact jsonb)
language plpgsql rows 100
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
  return query
    with m as materialized (
      select k.* from (select u.tenant_id, u.message_id from unnest(tenants, messages_) u (tenant_id, message_id) order by 1, 2) g
      cross join lateral (select k.* from messages k
        where k.tenant_id = g.tenant_id and k.id = g.message_id and k.direction = 'outbound' offset 0) k
    )
    select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
      m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at, m.author, m.template_id, m.echo_id, m.retry_of,
      case when c.id is not null then jsonb_build_object('id', c.id, 'firstname', c.firstname, 'lastname', c.lastname, 'phone', c.phone) end
    from m
    cross join lateral (select k.* from message_states k where k.tenant_id = m.tenant_id and k.message_id = m.id for update) s
    left join lateral (select k.* from contacts k where k.tenant_id = m.tenant_id and k.id = m.contact_id offset 0) c on true
    -- Before any is locked.
    where (select count(*) from m where m.type = 'reaction') = 0;
  if found then return; end if;
  perform from (
    select g.tenant_id, m.contact_id from unnest(tenants, messages_) g (tenant_id, message_id)
    cross join lateral (select k.contact_id from messages k
      where k.tenant_id = g.tenant_id and k.id = g.message_id and k.type = 'reaction' offset 0) m
    order by 1, 2) r
  cross join lateral (select from contacts k where k.tenant_id = r.tenant_id and k.id = r.contact_id for key share) c;
  return query select * from lock_outbound(tenants, messages_, true);
end $$;
