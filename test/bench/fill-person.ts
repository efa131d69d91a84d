import type pg from 'pg';
import type { FilledTenant } from './fill.ts';

export interface Fill {
  readonly messages: number;
  /** Of the tenant's first contact: one of so many messages is theirs. */
  readonly every: number;
}

/** The number of the tenant's first contact, without `+`. */
const PERSON = `(select phone_key from contacts where tenant_id = $1 and id = $2)`;

/**
 * Messages of a tenant, one of `every` of its first contact's, with all that goes with them: states, ids, events, deliveries, raw
 * webhooks, changes that were not applied, idempotency keys and names of files. Without statistics. Secondary indexes are made anew behind the rows, and nothing is checked.
 */
export async function addPersonsMessages(
  client: pg.ClientBase,
  tenant: FilledTenant,
  { messages, every }: Fill,
): Promise<void> {
  await client.query(`set session_replication_role = replica`);
  await client.query(`set maintenance_work_mem = '512MB'`);
  await client.query(`set work_mem = '256MB'`);
  const indexes = await dropIndexes(client);
  await client.query(
    `create temp table made as
     select (left(uuid_at(at)::text, 14) || '7' || right(gen_random_uuid()::text, 21))::uuid as id, n, at,
       case when n % ${every} = 0 then 0 else 1 + (hashint4(n)::bigint + 2147483648) % ${tenant.contacts - 1} end as c,
       'wamid.' || encode(convert_to('peer' || n || 'of' || md5(n::text), 'UTF8'), 'base64') as wamid,
       (array['received', 'read', 'delivered'])[1 + n % 3] as status
     from generate_series(1, ${messages}) n, lateral (select now() - (${messages} - n) * interval '2 seconds' as at) x`,
  );
  const ids = [tenant.id, tenant.firstContactId, tenant.firstConversationId, tenant.channelId];
  const fill = (text: string, count: number): Promise<unknown> => client.query(text, ids.slice(0, count));
  await fill(
    `insert into messages (tenant_id, id, contact_id, conversation_id, channel_id, direction, type, body, created_at)
     select $1::bigint, id, $2::bigint + c, $3::bigint + c, $4::bigint, case when n % 3 = 0 then 'inbound' else 'outbound' end, 'text',
       'Your order ' || n || ', please see below.', at from made`,
    4,
  );
  await fill(
    `insert into message_states (tenant_id, message_id, status, wamid, sent_at, delivered_at, updated_at)
     select $1::bigint, id, status, wamid, at, at, at from made`,
    1,
  );
  await fill(
    `insert into message_updates (tenant_id, message_id, status, updated_at) select $1::bigint, id, status, at from made`,
    1,
  );
  await client.query(
    `insert into message_wamids (tenant_id, channel_id, wamid, message_id) select $1::bigint, $2::bigint, wamid, id from made order by wamid`,
    [tenant.id, tenant.channelId],
  );
  await fill(
    `insert into events (tenant_id, id, type, payload, contact_id, conversation_id, occurred_at)
     select $1::bigint, id, 'message.updated', jsonb_build_object('message', jsonb_build_object('id', id, 'contact_id', $2::bigint + c,
       'message', 'Your order ' || n, 'status', status, 'message_id', wamid, 'created_at', at)), $2::bigint + c, $3::bigint + c, at
     from made where n % ${every} = 0 or n % 7 < 2`,
    3,
  );
  await fill(
    `insert into webhook_deliveries (tenant_id, id, endpoint_id, shard, event_id, event_type, status, attempts, created_at, settled_at, contact_id)
     select $1::bigint, id, 1, 0, id, 'message.updated', 'delivered', 1, at, at, $2::bigint + c from made where n % ${every} = 0 or n % 10 = 1`,
    2,
  );
  await fill(
    `insert into webhook_attempts (tenant_id, delivery_id, number, at, duration_ms, status, response)
     select $1::bigint, id, 1, at, 5, 200, 'ok' from made where n % ${every} = 0 or n % 10 = 1`,
    1,
  );
  await fill(
    `insert into inbound_webhooks (tenant_id, digest, id, body, received_at)
     select $1::bigint, sha256(convert_to(n::text, 'UTF8')), m.id, convert_to(jsonb_build_object('object', 'whatsapp_business_account', 'entry',
       jsonb_build_array(jsonb_build_object('id', '1', 'changes', jsonb_build_array(jsonb_build_object('field', 'messages', 'value',
         jsonb_build_object('messages', jsonb_build_array(jsonb_build_object('from', p.phone_key, 'id', wamid, 'type', 'text',
           'text', jsonb_build_object('body', 'Hello ' || n)))))))))::text, 'UTF8'), at
     from made m join contacts p on p.tenant_id = $1 and p.id = $2::bigint + c where n % ${every} = 0 or n % 10 = 1`,
    2,
  );
  await fill(
    `insert into inbound_webhook_people (tenant_id, person, webhook_id)
     select $1::bigint, ('x' || encode(substr(sha256(convert_to($1::bigint || ' ' || p.phone_key, 'UTF8')), 1, 6), 'hex'))::bit(48)::bigint, m.id
     from made m join contacts p on p.tenant_id = $1 and p.id = $2::bigint + c where n % ${every} = 0 or n % 10 = 1`,
    2,
  );
  await fill(
    `insert into idempotency_keys (tenant_id, key, operation, fingerprint, result, contact_id, created_at)
     select $1::bigint, encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), 'sendText', '\\x01', jsonb_build_object('id', id),
       case when n % 50 > 0 then $2::bigint + c end, at from made where n % ${every} = 0 or n % 10 = 1`,
    2,
  );
  // Requests about several people, or about none: nothing but what they hold says whose they are.
  await fill(
    `insert into idempotency_keys (tenant_id, key, operation, fingerprint, result, answer, created_at)
     select $1::bigint, encode(sha256(convert_to('shared' || n, 'UTF8')), 'hex'), 'createContacts', '\\x01',
       jsonb_build_object('created', jsonb_build_array(jsonb_build_object('id', $2::bigint + c), jsonb_build_object('id', $2::bigint + 1))),
       jsonb_build_object('success', true, 'data', jsonb_build_array(jsonb_build_object('id', $2::bigint + c, 'phone', '+' || p.phone_key,
         'firstname', 'Contact', 'note', repeat('x', 200)))), at
     from made m join contacts p on p.tenant_id = $1 and p.id = $2::bigint + c where n % 1000 = 0 or n % 10 = 3`,
    2,
  );
  await fill(
    `insert into media (tenant_id, id, channel_id, state, kind, filename, mime_type, size, sha256, network_media_id, expires_at)
     select $1::bigint, id, $2::bigint, 'stored', 'document', 'Report ' || n || '.pdf', 'application/pdf', 1, md5(n::text), md5(n::text), now() + interval '30 days'
     from made where n % 20 = 3`.replace('$2::bigint', String(tenant.channelId)),
    1,
  );
  await fill(
    `insert into network_changes (tenant_id, id, webhook_id, field, reason, raw, version, received_at)
     select $1::bigint, id, id, 'novelty', 'unknown_field', jsonb_build_object('id', '1', 'note', n), '0.1.0', at from made where n % 20 = 1`,
    1,
  );
  await fill(
    `insert into unrouted_changes (id, digest, secret_mac, field, raw, version, received_at)
     select id, sha256(convert_to(n::text, 'UTF8')), '\\x01', 'messages', convert_to(jsonb_build_object('id', '1', 'changes', jsonb_build_array(
       jsonb_build_object('field', 'messages', 'from', case when n % ${every} = 0 then ${PERSON} else '4911' || lpad(n::text, 9, '0') end)))::text, 'UTF8'),
       '0.1.0', at from made where n % 1000 = 0 or n % 10 = 3`,
    2,
  );
  for (const definition of indexes) await client.query(definition);
  await client.query('drop table made');
  await client.query('reset all');
}

/** Drops indexes that no constraint needs. @returns what makes them again */
async function dropIndexes(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition
     from pg_index i join pg_class t on t.oid = i.indrelid
     where t.relname = any('{messages,message_updates,events,webhook_deliveries,inbound_webhooks,inbound_webhook_people,idempotency_keys,media}')
       and not i.indisprimary and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}
