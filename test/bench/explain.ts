/** Plans and times of our statements on a large database: `node test/bench/explain.ts --help`. */
import { parseArgs } from 'node:util';
import { Kysely, PostgresDialect } from 'kysely';
import type { ListArgs } from '../../src/core/list-args.ts';
import type { Db, Schema } from '../../src/database/database.ts';
import { readAll, readTenant } from '../../src/events/log.sql.ts';
import { contactPage } from '../../src/features/contacts/list.ts';
import { QueueFront } from '../../src/features/messages/dispatch/lane-memory.ts';
import { claimDue, dueOutboxLanes, nextDueMs } from '../../src/features/messages/dispatch/outbox.sql.ts';
import { messagePage } from '../../src/features/messages/list.ts';
import { readManySendFacts } from '../../src/features/messages/send/facts.sql.ts';
import { findIdsByWamid, lockOutbound } from '../../src/features/messages/statuses/states.sql.ts';
import type { Context } from '../../src/schema/context.ts';
import type { Selection } from '../../src/schema/selection.ts';
import { ANY_TIMELINE } from '../support/lane.ts';
import { addMessages, addOutbox, addTenant, FIRST_PHONE, type FilledTenant, settle } from './fill.ts';
import { createFixture } from './fixture.ts';
import { printLine, printProgress } from './output.ts';
import { accesses, type Plan } from './plan.ts';
import { table } from './report.ts';

const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    tenant: { type: 'string', default: '200000' },
    messages: { type: 'string', default: '1000000' },
    plans: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

async function main(): Promise<void> {
  const fixture = await createFixture();
  try {
    const tenant = await fill(fixture);
    const captured: Statement[] = [];
    const db = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: fixture.pool }),
      log: event => void captured.push(event.query),
    }) as Db;
    const rows: string[][] = [];
    for (const [name, run] of cases(db, tenant)) {
      captured.length = 0;
      await run();
      for (const statement of [...captured]) rows.push(await explain(fixture.pool, name, statement));
    }
    printLine('');
    table(['statement', 'ms', 'rows', 'buffers', 'reads'], rows);
  } finally {
    await fixture.leave();
  }
}

async function fill(fixture: Awaited<ReturnType<typeof createFixture>>): Promise<FilledTenant> {
  const own = Number(values.tenant);
  const others = Math.max(0, Number(values.contacts) - own);
  const tenants = 20;
  for (let index = 0; index < tenants && others > 0; index += 1) {
    await addTenant(fixture.pool, `other-${index}`, Math.ceil(others / tenants));
    printProgress(`  ${index + 1} of ${tenants + 1} tenants filled`);
  }
  const tenant = await addTenant(fixture.pool, 'asked', own);
  const messages = Number(values.messages);
  for (let done = 0; done < messages; done += 250_000) {
    await addMessages(fixture.pool, tenant, Math.min(250_000, messages - done));
    printProgress(`  ${Math.min(messages, done + 250_000)} messages`);
  }
  await addOutbox(fixture.pool, tenant, 10_000);
  printProgress('  vacuum analyze …');
  await settle(fixture.pool);
  return tenant;
}

/** What a front end's list selects. */
const FIELDS = [
  'id',
  'firstName',
  'lastName',
  'phone',
  'source',
  'status',
  'groups',
  'serviceWindow',
  'text',
  'createdAt',
];
const NAMED: Selection = new Map([['name', new Map()]]);
const shown: Selection = new Map([['nodes', new Map(FIELDS.map(name => [name, NAMED]))]]);
const counted: Selection = new Map<string, Selection>([...shown, ['totalCount', new Map()]]);

/** A horizon behind everything. */
const END = { xid: 2n ** 63n, seq: 0 };

function* cases(db: Db, tenant: FilledTenant): Generator<[name: string, run: () => Promise<unknown>]> {
  const context = { db: { read: db, write: db }, principal: { tenant: { id: tenant.id } } } as unknown as Context;
  const contacts =
    (args: ListArgs, selection = shown) =>
    () =>
      contactPage(context, { first: 50, ...args }, selection);
  const messages = (args: ListArgs) => () => messagePage(context, { first: 50, ...args }, shown);
  const order = (field: string, direction: 'asc' | 'desc' = 'asc') => ({ orderBy: [{ field, direction }] });
  yield ['contacts, newest', contacts({})];
  for (const field of ['firstName', 'lastName', 'createdAt', 'updatedAt'])
    yield [`contacts by ${field}`, contacts(order(field, 'desc'))];
  yield ['contacts, page at offset 5,000', contacts({ offset: 5_000 })];
  yield ['contacts, search, rare word', contacts({ search: 'contact 123456' })];
  yield ['contacts, search, digits of a phone', contacts({ search: String(FIRST_PHONE + 4_321) })];
  yield ['contacts, search, common word, by name', contacts({ search: 'example', ...order('lastName') })];
  yield ['contacts, search and count', contacts({ search: '12345' }, counted)];
  yield ['contacts of a status', contacts({ filter: { statusId: { eq: String(1 + 6 * 20) } } }, counted)];
  yield [
    'contacts of a source, by first name',
    contacts({ filter: { sourceId: { eq: String(1 + 8 * 20) } }, ...order('firstName') }),
  ];
  yield ['contacts of a group', contacts({ filter: { groupId: { eq: String(1 + 40 * 20) } } }, counted)];
  yield [
    'contacts of a type since a day',
    contacts({
      filter: { type: { eq: 'CUSTOMER' }, createdAt: { gte: new Date(Date.now() - 86_400_000).toISOString() } },
    }),
  ];
  yield ['contacts, e-mail equals', contacts({ filter: { email: { eq: 'nobody@example.com' } } })];
  yield ['messages, newest', messages({})];
  yield ['messages of a contact', messages({ filter: { contactId: { eq: String(tenant.firstContactId + 77) } } })];
  yield ['messages failed', messages({ filter: { status: { eq: 'FAILED' } } })];
  yield ['messages, search', messages({ search: 'order 123456' })];
  yield [
    'send: what the decision needs',
    () =>
      readManySendFacts(db, tenant.id, [
        {
          channelId: null,
          recipient: { phoneKey: String(FIRST_PHONE + 4_321) },
          key: 'a key',
          category: 'marketing',
          digest: Buffer.alloc(32),
        },
      ]),
  ];
  const inDoubtMs = 30_000;
  const { id: tenantId, channelId } = tenant;
  yield [
    'lane: claim 32 of 10,000',
    () => claimDue(db, [{ tenantId, channelId, limit: 32, front: new QueueFront() }], inDoubtMs, ANY_TIMELINE),
  ];
  yield ['lane: next due', () => nextDueMs(db, tenantId, channelId, inDoubtMs, new QueueFront())];
  yield ['sweep', () => dueOutboxLanes(inDoubtMs).execute(db)];
  yield [
    'statuses: ids of 100 wamids',
    () =>
      findIdsByWamid(
        db,
        tenant.id,
        Array.from({ length: 100 }, (_, n) => `wamid.${n}`),
      ),
  ];
  yield [
    'statuses: lock by id',
    () => lockOutbound(db, [{ tenantId, messageId: '00000000-0000-7000-8000-000000000000' }]),
  ];
  yield [
    'tailer',
    () => readAll(db, { xid: 1_000_000_000n, seq: 0 }, END, 1_000, { tenants: [1, 2, 3], types: ['message.received'] }),
  ];
  yield [
    'events of a tenant, from the beginning',
    () =>
      readTenant(
        db,
        tenant.id,
        { types: ['message.sent', 'message.read'], after: { xid: 0n, seq: 0 }, before: END },
        500,
      ),
  ];
}

async function explain(
  pool: Awaited<ReturnType<typeof createFixture>>['pool'],
  name: string,
  { sql, parameters }: Statement,
): Promise<string[]> {
  const client = await pool.connect();
  try {
    // What changes rows is undone: the next statement finds the same database.
    await client.query('begin');
    await client.query(sql, [...parameters]);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan; 'Execution Time': number }] }>(
      `explain (analyze, buffers, format json) ${sql}`,
      [...parameters],
    );
    await client.query('rollback');
    const [result] = rows[0]?.['QUERY PLAN'] ?? [];
    if (!result) throw new Error(`No plan for ${name}.`);
    if (values.plans) printLine(`\n${name}\n${sql.replace(/\s+/g, ' ')}\n${JSON.stringify(result.Plan, null, 1)}`);
    const { Plan: plan } = result;
    return [
      `${name}${/count\(\*\)|as total/.test(sql) ? ' (count)' : ''}`,
      result['Execution Time'].toFixed(2),
      String(plan['Actual Rows']),
      String((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)),
      [...new Set(accesses(plan))].join(', '),
    ];
  } finally {
    client.release();
  }
}

if (values.help) {
  printLine(`Usage: node test/bench/explain.ts [options]

Fills a database of its own and explains our statements on it, each after it has run once.

  --contacts <n>  contacts of all tenants together (1000000)
  --tenant <n>    those of the tenant that is asked (200000)
  --messages <n>  messages of that tenant (1000000)
  --plans         print the plans, not only a line for each`);
} else await main();
