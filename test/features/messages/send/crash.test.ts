import type { ChildProcess } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually, type GraphQLAnswer, post, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { killAll, listeningUrl, startProgram } from '../../../support/processes.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

/** A gateway is killed while it accepts a batch; a worker in this process sends what it accepted. */

let gateway: TestGateway;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await killAll(children);
  await gateway.stop();
});

/** A gateway in a process of its own, on the same database. @returns its URL */
function startChild(): Promise<string> {
  const { config } = gateway.gateway.resources;
  const child = startProgram(children, ['src/launch.js', 'serve', '--role', 'gateway'], {
    PATH: process.env['PATH'],
    PORT: '0',
    DATABASE_URL: gateway.database.url,
    PARLEY_SECRET_KEY: Buffer.from(config.secretKey ?? []).toString('base64'),
    PARLEY_NETWORK_URL: config.network.baseUrl,
    PARLEY_MEDIA_DIR: gateway.mediaDirectory,
  });
  return listeningUrl(child);
}

const SEND = `mutation ($input: SendMessagesInput!) { sendMessages(input: $input) {
  summary { succeeded failed } results { message { databaseId } userErrors { code message } } userErrors { code message } } }`;

test('of a batch of 500 whose process is killed, the repetition after a restart accepts each message once, and each is sent once', async () => {
  const tenant = await gateway.addTenant({ plan: 'unlimited' });
  const { query } = gateway.database;
  gateway.emulator.setFaults({ window: 'open', throughputLimit: false });
  await query('update channels set messages_per_second = 1000 where tenant_id = $1', [tenant.id]);
  const stored = async () =>
    (
      await query<{ messages: number; people: number }>(
        'select count(*)::int as messages, count(distinct contact_id)::int as people from messages where tenant_id = $1',
        [tenant.id],
      )
    )[0];
  const held = await seedOf(gateway, tenant).contact({});
  const phones = [String(held.phone), ...Array.from({ length: 499 }, newPhone)];
  const input = {
    idempotencyKey: 'killed',
    messages: phones.map(phone => ({ to: { phone }, content: { text: { body: 'Once' } } })),
  };
  const ask = (url: string): Promise<GraphQLAnswer> => post(url, SEND, { input }, tenant.token);

  // Its message is accepted by itself, behind this lock; the other 499 are not affected.
  const blocker = new pg.Client({ connectionString: gateway.database.url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select from contacts where tenant_id = $1 and id = $2 for update', [tenant.id, held.id]);
  const died = expect(ask(await startChild())).rejects.toThrow();
  await eventually(async () => {
    expect(await stored()).toEqual({ messages: 499, people: 499 });
    expect(await query('select from pg_locks where not granted')).not.toHaveLength(0);
  });
  await killAll(children);
  await died;

  // The statement of the dead process still waits in the database, and may be first.
  const url = await startChild();
  const repeated = ask(url);
  await blocker.query('rollback');
  await blocker.end();
  await repeated;
  let answer = dataOf(await ask(url)).sendMessages;
  await eventually(async () => {
    answer = dataOf(await ask(url)).sendMessages;
    expect(answer).toMatchObject({ summary: { succeeded: 500, failed: 0 }, userErrors: [] });
  });
  const ids = answer.results.map((one: { message: { databaseId: string } }) => one.message.databaseId);
  expect(new Set(ids).size).toBe(500);
  expect(await stored()).toEqual({ messages: 500, people: 500 });
  await eventually(async () => {
    const [sent] = await query<{ n: number }>(
      `select count(*)::int as n from message_states where tenant_id = $1 and status not in ('queued', 'sent')`,
      [tenant.id],
    );
    expect(sent?.n).toBe(500);
  });
  const { messages, duplicates } = gateway.emulator.sent({ limit: 1_000 });
  expect(duplicates).toBe(0);
  expect(messages.map(({ to }) => to.replace(/\D/g, '')).toSorted()).toEqual(
    phones.map(phone => phone.replace(/\D/g, '')).toSorted(),
  );
});
