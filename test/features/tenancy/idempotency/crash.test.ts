import type { ChildProcess } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../../support/answers.ts';
import { eventually, type GraphQLAnswer, post } from '../../../support/gateway.ts';
import { killAll, listeningUrl, startProgram } from '../../../support/processes.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Caller, type Harness, SEND, startHarness } from '../../otp/harness.ts';
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts';

/** A process is killed in the middle of a request of each kind; another process gets the repetitions. */

let harness: Harness;
let caller: Caller;
let receiver: Receiver;
let dying: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  [harness, receiver] = await Promise.all([
    startHarness({ env: { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' } }),
    startReceiver(),
  ]);
  caller = await harness.tenant();
  const { config } = harness.gateway.gateway.resources;
  const child = startProgram(children, ['src/launch.js', 'serve', '--role', 'gateway'], {
    PATH: process.env['PATH'],
    PORT: '0',
    DATABASE_URL: harness.gateway.database.url,
    PARLEY_SECRET_KEY: Buffer.from(config.secretKey ?? []).toString('base64'),
    PARLEY_NETWORK_URL: config.network.baseUrl,
    PARLEY_MEDIA_DIR: harness.gateway.mediaDirectory,
    // It must answer none of these requests before it is killed, however slow the machine is.
    PARLEY_ACCEPTANCE_TIMEOUT_MS: '60000',
    PARLEY_DATABASE_STATEMENT_TIMEOUT_MS: '120000',
    PARLEY_WEBHOOK_TIMEOUT_MS: '60000',
    PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
    PARLEY_WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
  });
  dying = await listeningUrl(child);
});
afterAll(async () => {
  await killAll(children);
  await harness.gateway.stop();
  await receiver.stop();
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  readonly body: any;
}

/** One request, to be sent to the process that dies and then to the one that lives. */
type Ask = (url: string) => Promise<Answer>;

const rest =
  (path: string, body: object): Ask =>
  async url => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${caller.token}`,
        'content-type': 'application/json',
        'idempotency-key': `killed ${path}`,
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };

const graphql =
  (query: string, variables: object): Ask =>
  async url => {
    const answer: GraphQLAnswer = await post(url, query, variables, caller.token);
    return { status: codeOf(answer) === undefined ? 200 : 409, body: answer };
  };

test('repeated requests of a killed process are answered, never get CONFLICT, and do nothing twice', async () => {
  const { emulator, database, url } = harness.gateway;
  const { query } = database;
  const [texted, legacy, contact, byGraphql, byRest] = [newPhone(), newPhone(), newPhone(), newPhone(), newPhone()];
  const hook = dataOf(
    await harness.gateway.graphql(
      'mutation ($url: String!) { createWebhookEndpoint(input: { url: $url, events: ["group.created"] }) { webhookEndpoint { databaseId } userErrors { message } } }',
      { url: `${receiver.url}/hook` },
      caller.token,
    ),
  ).createWebhookEndpoint.webhookEndpoint.databaseId;
  const code = { templateName: 'login_code', code: '424242' };
  const idempotencyKey = crypto.randomUUID();
  const asks = {
    text: rest('/api/v2/messages/text', { phone: texted, message: 'Once' }),
    legacy: rest(`/api/v1/${caller.slug}/messages/send`, { phone_number: legacy, message_body: 'Once' }),
    test: rest(`/api/v2/webhooks/${hook}/test`, {}),
    contact: rest('/api/v2/contacts', { phone: contact }),
    otp: rest('/api/v2/auth/send-otp', { phone: byRest, template_name: 'login_code', code: '424242' }),
    otpGraphql: graphql(SEND, { input: { phone: byGraphql, ...code, idempotencyKey } }),
  };
  const died: Promise<unknown>[] = [];
  const start = (...kinds: (keyof typeof asks)[]) => {
    for (const kind of kinds) died.push(expect(asks[kind](dying), kind).rejects.toThrow());
  };
  emulator.setFaults({ window: 'open', next: [texted, legacy].map(to => ({ to, latencyMs: 10_000 })) });
  receiver.answer(() => undefined);
  start('text', 'legacy', 'test');
  await eventually(async () => {
    expect(await query("select from messages where body = 'Once'")).toHaveLength(2);
    expect(receiver.at('/hook')).toHaveLength(1);
  });

  // From here on neither a message nor a contact can be written: what comes stops between its two halves.
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query('begin; lock table messages, contacts in share row exclusive mode');
  start('contact', 'otp', 'otpGraphql');
  await eventually(async () => {
    expect(await query("select from otps where state = 'sending'")).toHaveLength(2);
    const waiting = await query(
      "select from pg_locks where not granted and relation in ('messages'::regclass, 'contacts'::regclass)",
    );
    // The two codes may share a statement.
    expect(waiting.length).toBeGreaterThanOrEqual(2);
  });
  await killAll(children);
  await Promise.all(died);

  receiver.answer(200);
  // One is repeated while its statement still waits in the database without its process.
  const fenced = asks.otp(url);
  await eventually(async () =>
    expect(await query("select from idempotency_keys where operation = 'abandoned'")).toHaveLength(1),
  );
  await blocker.query('rollback');
  await blocker.end();
  const kinds = Object.keys(asks) as (keyof typeof asks)[];
  const answers = await Promise.all(
    kinds.map(async kind => [kind, (await (kind === 'otp' ? fenced : asks[kind](url))).status]),
  );
  expect(Object.fromEntries(answers)).toEqual({
    text: 200,
    legacy: 200,
    test: 200,
    contact: 201,
    otp: 200,
    otpGraphql: 200,
  });
  for (const phone of [texted, legacy, byGraphql, byRest])
    await eventually(() => expect(emulator.sent({ to: phone }).matched, phone).toBe(1));
  expect(await query('select from contacts where phone = $1', [contact])).toHaveLength(1);
  for (const phone of [byGraphql, byRest])
    expect(dataOf(await caller.verify(phone, '424242')).verifyOtp.verified, phone).toBe(true);
});
