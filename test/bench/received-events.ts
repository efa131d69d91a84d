import type { FilledTenant } from './fill.ts';
import type { Fixture } from './fixture.ts';

/** Inserts received messages in one transaction, and signals them to the gateway as another process of Parley would. */
export async function commitEvents({ pool }: Fixture, tenant: FilledTenant, count: number): Promise<void> {
  await pool.query(
    `insert into events (tenant_id, id, type, payload)
     select $1, gen_random_uuid(), 'message.received', jsonb_build_object('message', jsonb_build_object(
       'id', gen_random_uuid(), 'contact_id', c.id, 'interaction_id', 1, 'channel_id', 1, 'direction', 'inbound', 'type', 'text',
       'message', 'Where is my order 4711? It should have been here on Tuesday.', 'content', jsonb_build_object('message', 'Where is my order 4711?'),
       'status', 'received', 'message_id', 'wamid.' || n, 'created_at', now(), 'sent_at', now(), 'is_read', false))
     from generate_series(1, $2::int) n, lateral (select id from contacts where tenant_id = $1 order by id limit 1) c`,
    [tenant.id, count],
  );
  await pool.query(`select pg_notify('parley', 'events')`);
}
