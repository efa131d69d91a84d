import pg from 'pg';
import { expect, test } from 'vitest';
import { payloadOf } from '../support/answers.ts';
import { eventually, startGateway } from '../support/gateway.ts';

/** More runs of the chore that is due every two seconds would begin meanwhile than the pool has connections. */
const LOCKED_MS = 12_000;

test('a chore that waits for a lock is not begun again meanwhile: other work finds a connection', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const gateway = await startGateway({
    env: { PARLEY_DATABASE_POOL: '4', PARLEY_DATABASE_STATEMENT_TIMEOUT_MS: '60000' },
  });
  onTestFinished(() => gateway.stop());
  const other = new pg.Client({ connectionString: gateway.database.url });
  await other.connect();
  onTestFinished(() => other.end());
  const scheduled = async (): Promise<number> => {
    const rows = await gateway.database.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%due_at <= statement_timestamp()%'`,
    );
    return rows.length;
  };
  await other.query('begin');
  await other.query('lock table outbox in access exclusive mode');
  await eventually(async () => expect(await scheduled()).toBe(1));
  await new Promise(resolve => setTimeout(resolve, LOCKED_MS));
  const made = await gateway.mutate('createContact', { phone: '+14155550188' }, 'contact { id }');
  expect(payloadOf(made).contact).not.toBeNull();
  expect(await scheduled()).toBe(1);
  await other.query('rollback');
  await eventually(async () => expect(await scheduled()).toBe(0));
});
