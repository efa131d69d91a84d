import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../../cli/program.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

/** After a restore the outbox is held until the operator decides; each message is then either cancelled or sent. */

let gateway: TestGateway;
let directory: string;
beforeAll(async () => {
  [gateway, directory] = await Promise.all([startGateway(), mkdtemp(join(tmpdir(), 'parley-outbox-'))]);
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const parley = (...args: string[]) =>
  run(directory, args, {
    DATABASE_URL: gateway.database.url,
    PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  });

async function send(text: string, scheduledAt?: string): Promise<string> {
  const answer = await gateway.graphql(
    'mutation ($text: String!, $scheduledAt: ScheduledAtInput) { sendMessage(input: { to: { phone: "+14155550123" }, content: { text: { body: $text } }, scheduledAt: $scheduledAt }) { message { databaseId status } userErrors { code message path } } }',
    { text, scheduledAt: scheduledAt && { instant: scheduledAt } },
  );
  const { databaseId, status } = dataOf(answer).sendMessage.message;
  expect(status).toBe(scheduledAt === undefined ? 'QUEUED' : 'SCHEDULED');
  return databaseId;
}

const sent = () => gateway.emulator.sent({ limit: 100 }).messages.map(({ body }) => body);

test('a restored outbox is held: sends are accepted but not submitted; the operator cancels old messages and sends the rest', async () => {
  const nothing = await parley('restore-log');
  expect([nothing.code, nothing.output]).toEqual([1, expect.stringContaining('--force')]);
  const restored = await parley('restore-log', '--force');
  expect(restored.output).toContain('The outbox is held');
  expect(restored.code).toBe(0);

  await send('of the backup');
  const inDoubt = await send('of the backup, too');
  await gateway.database.query('update outbox set dispatched_at = now() where message_id = $1', [inDoubt]);
  await gateway.database.query(`update messages set created_at = created_at - interval '1 day'`);
  await send('new');
  const status = await parley('outbox', 'status', '--json');
  expect(JSON.parse(status.output)).toEqual({
    heldSince: expect.any(String),
    backlog: [expect.objectContaining({ tenant: gateway.tenant.slug, waiting: 3, in_doubt: 1 })],
  });

  const wrong = await parley('outbox', 'release', '--cancel-before', 'yesterday');
  expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining('2027-01-31T09:30:00Z')]);
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const released = await parley('outbox', 'release', '--cancel-before', hourAgo);
  expect(released.output).toContain('Cancelled 2 messages');
  await eventually(() => expect(sent()).toEqual(['new']));

  await send('later');
  await eventually(() => expect(sent()).toEqual(['new', 'later']));
  const told = await gateway.database.query<{ type: string; body: string; title: string }>(
    `select type, payload->'message'->>'message' as body, payload->'message'->'status_message'->>'title' as title from events
     where payload->'message'->'status_message'->>'title' is not null and payload->'message'->>'message' like 'of the backup%' order by 2`,
  );
  expect(told).toEqual([
    { type: 'message.cancelled', body: 'of the backup', title: 'Cancelled' },
    { type: 'message.cancelled', body: 'of the backup, too', title: 'Cancelled' },
  ]);
  const again = await parley('outbox', 'release');
  expect([again.code, again.output]).toEqual([1, expect.stringContaining('not held')]);
});

test('of the scheduled messages of a backup those are cancelled whose time came before the given one', async () => {
  await parley('restore-log', '--force');
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const [due, later] = [await send('due', inAnHour), await send('later', inAnHour)];
  await gateway.database.query(`update messages set created_at = created_at - interval '1 day'`);
  await gateway.database.query(`update outbox set due_at = now() - interval '1 minute' where message_id = $1`, [due]);

  const released = await parley('outbox', 'release', '--cancel-before', new Date().toISOString());
  expect(released.output).toContain('Cancelled 1 messages');
  const states = await gateway.database.query<{ id: string; status: string }>(
    'select message_id as id, status from message_states where message_id = any($1)',
    [[due, later]],
  );
  expect(Object.fromEntries(states.map(({ id, status }) => [id, status]))).toEqual({
    [due]: 'cancelled',
    [later]: 'scheduled',
  });
  expect(sent()).not.toContain('due');
});
