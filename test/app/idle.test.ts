import { expect, test } from 'vitest';
import { eventually, startGateway } from '../support/gateway.ts';

const WINDOW_MS = 4_000;
const PATIENCE_MS = 90_000;

interface Count {
  readonly transactions: number;
  readonly at: number;
}

test('an idle process with all roles needs at most 5 transactions a second, and 8 connections', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  // Production pool sizes, but idle connections are closed sooner.
  const gateway = await startGateway({
    env: { PARLEY_DATABASE_POOL: '10', PARLEY_DATABASE_READERS: '3', PARLEY_DATABASE_IDLE_MS: '2000' },
  });
  onTestFinished(() => gateway.stop());
  const count = async (): Promise<Count> => {
    const [row] = await gateway.database.query<Count>(
      `select (xact_commit + xact_rollback)::float8 as transactions, extract(epoch from clock_timestamp())::float8 as at
       from pg_stat_database where datname = current_database()`,
    );
    if (!row) throw new Error('The database has no statistics.');
    return row;
  };
  // A slow machine makes fewer transactions, never more. Wait until the work of the start is done.
  await eventually(async () => {
    const before = await count();
    await new Promise(resolve => setTimeout(resolve, WINDOW_MS));
    const after = await count();
    expect((after.transactions - before.transactions) / (after.at - before.at)).toBeLessThanOrEqual(5);
  }, PATIENCE_MS);
  await eventually(async () => {
    const connections = await gateway.database.query(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'parley'`,
    );
    expect(connections.length).toBeLessThanOrEqual(8);
  }, PATIENCE_MS);
});
