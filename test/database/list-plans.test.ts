import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ListArgs } from '../../src/core/list-args.ts';
import type { Db } from '../../src/database/database.ts';
import { contactPage } from '../../src/features/contacts/list.ts';
import { conversationPage } from '../../src/features/conversations/list.ts';
import { messagePage } from '../../src/features/messages/list.ts';
import type { Context } from '../../src/schema/context.ts';
import type { Selection } from '../../src/schema/selection.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

/** How PostgreSQL plans the pages of lists. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
  const { database, tenant } = gateway;
  const phones = Array.from({ length: 5_000 }, newPhone);
  // Each person has a conversation, and two messages.
  await database.query(
    `with c as (insert into contacts (tenant_id, phone, phone_key) select $1::bigint, p, p from unnest($2::text[]) p returning id
     ), v as (
       insert into conversations (tenant_id, contact_id, channel_id, last_activity_at)
       select $1::bigint, c.id, ch.id, now() - c.id * interval '1 second' from c, channels ch where ch.tenant_id = $1 returning id, contact_id, channel_id
     ), m as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
       select $1::bigint, message_id_at(floor(extract(epoch from now()) * 1000)::bigint, nextval('message_arrivals')), v.id, v.contact_id, v.channel_id, 'outbound', 'text', 'Hi', now()
       from v, generate_series(1, 2) returning tenant_id, id, created_at
     )
     insert into message_states (tenant_id, message_id, updated_at) select tenant_id, id, created_at from m`,
    [tenant.id, phones],
  );
  await database.query('analyze');
});
afterAll(() => gateway.stop());

const NAME: Selection = new Map([['name', new Map()]]);
const nodes = (...fields: string[]): Selection => new Map([['nodes', new Map(fields.map(field => [field, NAME]))]]);

/** Pages as a request of the first tenant gets them, read over one connection. */
function inOneTransaction<Result>(run: (context: Context, trx: Db) => Promise<Result>): Promise<Result> {
  const { id } = gateway.tenant;
  return gateway.gateway.resources.db.transaction(trx =>
    run(
      { db: { read: trx, write: trx }, principal: { tenant: { id, defaultCountry: null } } } as unknown as Context,
      trx,
    ),
  );
}

test.each<[string, (context: Context, args: ListArgs) => Promise<{ readonly rows: readonly unknown[] }>]>([
  ['contacts', (context, args) => contactPage(context, args, nodes('id', 'firstName', 'source', 'groups'))],
  ['conversations', (context, args) => conversationPage(context, args, nodes('id', 'tags', 'contact', 'lastMessage'))],
  ['messages', (context, args) => messagePage(context, args, nodes('id', 'text', 'status', 'sentAt'))],
])('a page of all %s is planned once, not at each call', async (table, page) => {
  const plans = await inOneTransaction(async (context, trx) => {
    // PostgreSQL decides after five plans of a prepared statement, which a text is at its second use.
    for (let call = 0; call < 10; call += 1) expect((await page(context, { first: 50 })).rows.length).toBe(50);
    const { rows } = await sql<{ kept: number; made: number }>`
      select generic_plans::int as kept, custom_plans::int as made from pg_prepared_statements
      where statement ~ ${`from ${table} \\w where \\w\\.tenant_id = \\$1 order by`}`.execute(trx);
    return rows;
  });
  expect(plans).toEqual([{ kept: 4, made: 5 }]);
});

test('tags are read for the conversations of the page only, also where none has any', async () => {
  const scans = await inOneTransaction(async (context, trx) => {
    const counted = async (): Promise<number> => {
      const { rows } = await sql<{ scans: number }>`
        select (seq_scan + idx_scan)::int as scans from pg_stat_xact_user_tables where relname = 'conversation_tags'`.execute(
        trx,
      );
      return rows[0]?.scans ?? 0;
    };
    const before = await counted();
    // No index has this order: all conversations are sorted.
    const args = { first: 20, orderBy: [{ field: 'updatedAt', direction: 'desc' as const }] };
    expect((await conversationPage(context, args, nodes('id', 'tags'))).rows.length).toBe(20);
    return (await counted()) - before;
  });
  expect(scans).toBe(21);
});
