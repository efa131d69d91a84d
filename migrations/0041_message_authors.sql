-- Who sent a message, the client's key of it, and the message that it repeats. None of them changes, and none has an index.
alter table messages
  add column author jsonb,     -- { kind, id, name }: a snapshot; null: a person, or another system
  add column echo_id text,     -- given by the client that sent it
  add column retry_of uuid;    -- the failed message that it sends again

-- With the columns above, the template, and whom it was sent to.
drop function lock_outbound(bigint[], uuid[], boolean);
create function lock_outbound(tenants bigint[], messages_ uuid[], waits boolean)
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
    -- The same once more, but for its last words: a lock clause takes no parameter.
    return query
      select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
        m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at, m.author, m.template_id, m.echo_id, m.retry_of,
        case when c.id is not null then jsonb_build_object('id', c.id, 'firstname', c.firstname, 'lastname', c.lastname, 'phone', c.phone) end
      from unnest(tenants, messages_) g (tenant_id, message_id)
      join message_states s on s.tenant_id = g.tenant_id and s.message_id = g.message_id
      join messages m on m.tenant_id = g.tenant_id and m.id = g.message_id and m.direction = 'outbound'
      left join contacts c on c.tenant_id = g.tenant_id and c.id = m.contact_id
      order by s.tenant_id, s.message_id for update of s skip locked;
    return;
  end if;
  return query
    select m.tenant_id, m.id, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.content, s.status, s.error, s.wamid,
      m.reply_to_wamid, s.sent_at, s.delivered_at, s.read_at, s.failed_at, m.created_at, s.updated_at, m.author, m.template_id, m.echo_id, m.retry_of,
      case when c.id is not null then jsonb_build_object('id', c.id, 'firstname', c.firstname, 'lastname', c.lastname, 'phone', c.phone) end
    from unnest(tenants, messages_) g (tenant_id, message_id)
    join message_states s on s.tenant_id = g.tenant_id and s.message_id = g.message_id
    join messages m on m.tenant_id = g.tenant_id and m.id = g.message_id and m.direction = 'outbound'
    left join contacts c on c.tenant_id = g.tenant_id and c.id = m.contact_id
    order by s.tenant_id, s.message_id for update of s;
end $$;
