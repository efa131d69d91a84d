import pg from 'pg';
import { addTenant, type FilledTenant } from '../fill.ts';
import type { Fixture } from '../fixture.ts';
import { printLine, printProgress } from '../output.ts';
import { atMost, type Result, table } from '../report.ts';

const BACKLOGS = [16, 1_000, 10_000, 100_000];
const MESSAGES_PER_CONTACT = 6;
const CLAIMED = 16;
const START = `'{-infinity,-infinity,-infinity,-infinity}'::timestamptz[], '{null}'::double precision[]`;

type Statistics = 'of an empty table' | 'fresh';

/**
 * What a turn of a lane costs the database, by what waits: pages that are touched, which do not depend on what else the machine does.
 * Six messages wait for each contact. Each statement runs in a transaction that is rolled back, on a connection without plans.
 */
export async function claim(fixture: Fixture): Promise<Result> {
  const rows: string[][] = [];
  const buffers = new Map<string, number>();
  for (const waiting of BACKLOGS) {
    printProgress(`claim: ${waiting} waiting …`);
    const tenant = await fill(fixture.pool, waiting);
    for (const statistics of ['of an empty table', 'fresh'] as const satisfies readonly Statistics[]) {
      if (statistics === 'fresh') await fixture.pool.query('analyze outbox, messages, message_states, contacts');
      for (const [name, text] of statements(tenant, await firstInLine(fixture.pool, tenant))) {
        const { pages, ms } = await measure(fixture, tenant, text);
        buffers.set(`${name} ${statistics} ${waiting}`, pages);
        rows.push([name, String(waiting), statistics, String(pages), ms.toFixed(2)]);
      }
    }
    if (waiting === BACKLOGS.at(-1)) rows.push(...(await emptied(fixture, tenant)));
    await fixture.pool.query('truncate outbox, messages, message_states');
  }
  printLine('');
  table(['statement', 'waiting', 'statistics', 'pages', 'ms'], rows);
  const ratio = (name: string): number =>
    Math.max(
      ...(['of an empty table', 'fresh'] as const).map(
        statistics =>
          (buffers.get(`${name} ${statistics} ${BACKLOGS.at(-1)}`) ?? Number.NaN) /
          (buffers.get(`${name} ${statistics} ${BACKLOGS[2]}`) ?? Number.NaN),
      ),
    );
  return {
    title: `claim: pages touched by a turn of a lane, ${MESSAGES_PER_CONTACT} messages a contact`,
    samples: new Map(),
    // A deeper tree costs a page for each look-up.
    goals: [`claim ${CLAIMED}`, `settle ${CLAIMED}`, 'next due', 'sweep'].map(name =>
      atMost(`${name}: pages at ${BACKLOGS.at(-1)} waiting / at ${BACKLOGS[2]}`, ratio(name), 2),
    ),
  };
}

const statements = ({ id, channelId }: FilledTenant, first: readonly string[]): [string, string][] => [
  [
    `claim ${CLAIMED}`,
    `select * from claim_outbox('{${id}}', '{${channelId}}', '{${CLAIMED}}', interval '60 s', ${START})`,
  ],
  [`settle ${CLAIMED}`, `select * from settle_outbox('{${first.map(() => id)}}', '{${first}}', false)`],
  [
    'next due',
    `select next_due_in_outbox(${id}, ${channelId}, interval '60 s', '{-infinity,-infinity,-infinity,-infinity}', null)`,
  ],
  ['sweep', `select * from due_outboxes(interval '60 s')`],
];

/** Messages that have their turn. */
async function firstInLine(pool: pg.Pool, tenant: FilledTenant): Promise<string[]> {
  const { rows } = await pool.query<{ message_id: string }>(
    'select message_id from outbox where tenant_id = $1 and next_attempt_at is not null order by next_attempt_at limit $2',
    [tenant.id, CLAIMED],
  );
  return rows.map(row => row.message_id);
}

/** A lane with so many waiting, whose statistics were taken when everything was empty. */
async function fill(pool: pg.Pool, waiting: number): Promise<FilledTenant> {
  const contacts = Math.ceil(waiting / MESSAGES_PER_CONTACT);
  const tenant = await addTenant(pool, `claim-${waiting}`, contacts);
  await pool.query(`alter table outbox set (autovacuum_enabled = false); analyze outbox, messages, message_states`);
  await pool.query(
    `with m as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, created_at)
       select $1::bigint, message_id_at((extract(epoch from now()) * 1000)::bigint, n), $4::bigint + n % $5::int, $3::bigint + n % $5::int, $6::bigint,
         'outbound', 'text', 'Your order is on its way.', now()
       from generate_series(0, $2::int - 1) n returning *
     )
     insert into message_states (tenant_id, message_id, updated_at) select tenant_id, id, created_at from m`,
    [tenant.id, waiting, tenant.firstContactId, tenant.firstConversationId, contacts, tenant.channelId],
  );
  await pool.query(
    `select count(enqueue_messages(m.tenant_id, array[m.channel_id], array[m.contact_id], array[m.id], array[(1 + m.contact_id % 3)::smallint], array[null::bytea]))
     from (select * from messages where tenant_id = $1 order by id) m`,
    [tenant.id],
  );
  return tenant;
}

/**
 * A lane that was just emptied while a transaction is open somewhere: the index entries of all that was sent are still there. With the
 * front that the lane remembers, they are not walked again.
 */
async function emptied(fixture: Fixture, tenant: FilledTenant): Promise<string[][]> {
  const reader = new pg.Client({ connectionString: fixture.url });
  await reader.connect();
  try {
    await reader.query('begin isolation level repeatable read');
    await reader.query('select from outbox limit 1');
    // The front stays 5 s behind: a transaction may commit late.
    await fixture.pool.query('select pg_sleep(6)');
    const { rows } = await fixture.pool.query<{ dead: number }>(
      `with gone as (delete from outbox where tenant_id = $1 and next_attempt_at is not null returning 1) select count(*)::int as dead from gone`,
      [tenant.id],
    );
    await fixture.pool.query(
      `update outbox set next_attempt_at = clock_timestamp() where message_id = any(array(
         select distinct on (contact_id) message_id from outbox where tenant_id = $1 order by contact_id, position limit $2))`,
      [tenant.id, CLAIMED],
    );
    const call = (front: string): string =>
      `select * from claim_outbox('{${tenant.id}}', '{${tenant.channelId}}', '{${CLAIMED}}', interval '60 s', ${front})`;
    const measured: string[][] = [];
    for (const [name, front] of [
      ['from its beginning', START],
      ['from the front', START.replace('null', '0')],
    ] as const) {
      const { pages, ms } = await measure(fixture, tenant, call(front));
      measured.push([`claim ${CLAIMED} ${name}`, `${rows[0]?.dead} dead`, 'fresh', String(pages), ms.toFixed(2)]);
    }
    return measured;
  } finally {
    await reader.end();
  }
}

async function measure(fixture: Fixture, tenant: FilledTenant, text: string): Promise<{ pages: number; ms: number }> {
  const client = new pg.Client({ connectionString: fixture.url });
  await client.connect();
  try {
    // The first call reads the catalogue.
    for (const run of ['warm', 'counted']) {
      await client.query('begin');
      const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`);
      await client.query('rollback');
      const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN'];
      if (run === 'counted') return { pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], ms };
    }
    throw new Error(`Nothing was measured of tenant ${tenant.id}.`);
  } finally {
    await client.end();
  }
}
