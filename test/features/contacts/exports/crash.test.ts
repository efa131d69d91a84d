import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { kill, killAll, startProgram } from '../../../support/processes.ts';

const COUNT = 60_000;
const children = new Set<ChildProcess>();
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(async () => {
  await killAll(children);
  await gateway.stop();
});

const startWorker = (): ChildProcess =>
  startProgram(children, ['src/launch.js', 'serve', '--role', 'worker'], {
    PATH: process.env['PATH'],
    PORT: '0',
    DATABASE_URL: gateway.database.url,
    PARLEY_SECRET_KEY: gateway.secretKey,
    PARLEY_NETWORK_URL: gateway.emulator.url,
    PARLEY_MEDIA_DIR: gateway.mediaDirectory,
    PARLEY_LANE_LEASE_MS: '2000',
  });

test('an export whose worker is killed with SIGKILL is written whole by another one, and nothing of the first is kept', async () => {
  const { id: tenantId } = gateway.tenant;
  await gateway.database.query(
    `insert into contacts (tenant_id, firstname, phone, phone_key)
     select $1, 'N' || n, '+4930' || (1000000 + n), '4930' || (1000000 + n) from generate_series(1, ${COUNT}) n`,
    [tenantId],
  );
  const made = await gateway.mutate('createExport', { resource: { contacts: {} } }, 'export { id databaseId }');
  const { id, databaseId } = payloadOf(made).export;
  const progress = async () => {
    const [row] = await gateway.database.query<{ state: string; attempts: number; parts: number }>(
      `select e.state, e.attempts, (select count(*)::int from export_people p where p.tenant_id = $1 and p.export_id = e.id) as parts
       from exports e where e.tenant_id = $1 and e.id = $2`,
      [tenantId, databaseId],
    );
    return row;
  };
  // The worker is stopped in the middle of the file: it would have written all of it before a busy test noticed the fourth part.
  await gateway.database.query(
    `create function in_the_middle() returns trigger language plpgsql as $$ begin
       if (select count(*) from export_people) > 3 then perform pg_advisory_xact_lock(1); end if;
       return null;
     end $$`,
  );
  await gateway.database.query(
    'create trigger in_the_middle before insert on export_people for each statement execute function in_the_middle()',
  );
  const lock = await holdLock(gateway.database, 'select pg_advisory_xact_lock(1)');
  const first = startWorker();
  await eventually(async () => expect(await lock.waiting()).toHaveLength(1));
  await kill(first);
  await gateway.database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
  );
  await eventually(async () => expect(await lock.waiting()).toEqual([]));
  await lock.release();
  expect(await progress()).toMatchObject({ state: 'running', attempts: 1 });
  startWorker();
  const query = 'query ($id: ID!) { export(id: $id) { state rowCount url } }';
  const { rowCount, url } = await eventually(async () => {
    const row = dataOf(await gateway.graphql(query, { id })).export;
    expect(row.state).toBe('COMPLETED');
    return row;
  });
  const lines = (await (await fetch(`${gateway.url}${url}`)).text()).trimEnd().split('\r\n');
  expect([rowCount, lines.length, (await progress())?.attempts]).toEqual([COUNT, COUNT + 1, 2]);
  expect(new Set(lines.map(line => line.split(',')[0])).size).toBe(COUNT + 1);
});
