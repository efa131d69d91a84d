import pg from 'pg';
import { expect, test } from 'vitest';
import { dataOf } from '../support/answers.ts';
import { eventually, startGateway } from '../support/gateway.ts';

test('a process with all roles closes connections after a burst, and has at most 8 when idle', async () => {
  const gateway = await startGateway({
    env: { PARLEY_DATABASE_POOL: '10', PARLEY_DATABASE_READERS: '3', PARLEY_DATABASE_IDLE_MS: '500' },
  });
  const connections = async (): Promise<number> => {
    const [row] = await gateway.database.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'parley'",
    );
    return row?.count ?? 0;
  };
  const holder = new pg.Client({ connectionString: gateway.database.url });
  await holder.connect();
  await holder.query('begin; lock table groups in share mode');
  const burst = Array.from({ length: 60 }, (_, at) =>
    gateway.graphql(`mutation { createContactGroup(input: { name: "Group ${at}" }) { contactGroup { id } } }`),
  );
  await eventually(async () => expect(await connections()).toBeGreaterThan(8));
  await holder.query('rollback');
  await holder.end();
  for (const answer of await Promise.all(burst)) dataOf(answer);
  await eventually(async () => expect(await connections()).toBeLessThanOrEqual(8));
  dataOf(await gateway.graphql('{ contactGroups { totalCount } }'));
  await gateway.stop();
});
