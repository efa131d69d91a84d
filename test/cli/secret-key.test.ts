import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SEALED_COLUMNS } from '../../src/database/sealed-values.sql.ts';
import { createSecretBox, fingerprintOf } from '../../src/platform/crypto.ts';
import { UserError } from '../../src/platform/user-error.ts';
import { dataOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { holdLock } from '../support/lock.ts';
import { startSecondGateway } from '../support/second-gateway.ts';
import { type Finished, Program, Session } from './program.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(32);
const OTHER = randomBytes(32);
const ENDPOINTS = 6_000;

let gateway: TestGateway;
let directory: string;
/** One process for all commands that are not killed. */
let session: Session;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-keys-'));
  session = new Session();
  gateway = await startGateway({ env: { PARLEY_SECRET_KEY: OLD.toString('base64') } });
});
afterAll(async () => {
  await session.close();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const env = (current: Buffer, previous?: Buffer): Record<string, string> => ({
  PORT: '0',
  DATABASE_URL: gateway.database.url,
  PARLEY_SECRET_KEY: current.toString('base64'),
  ...(previous && { PARLEY_PREVIOUS_SECRET_KEY: previous.toString('base64') }),
});
const rotate = (current: Buffer, previous?: Buffer, ...args: string[]): Promise<Finished> =>
  session.run(directory, ['rotate-secrets', ...args], env(current, previous));

/** Starts what `serve` starts, and stops it. @returns why it did not start; undefined if it did */
async function serveOnce(secretKey: Buffer, previousSecretKey?: Buffer): Promise<string | undefined> {
  try {
    const served = await startSecondGateway(
      gateway,
      gateway.database.url,
      {},
      { secretKey, ...(previousSecretKey && { previousSecretKey }) },
    );
    await served.stop();
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

/** Values of every sealed column, by the key that opens them. */
async function sealedUnder(key: Buffer): Promise<{ readonly yes: number; readonly no: number }> {
  const box = createSecretBox({ current: key });
  let [yes, no] = [0, 0];
  for (const { table, columns } of [...SEALED_COLUMNS, { table: 'deployment', columns: ['digest_key_sealed'] }])
    for (const column of columns)
      for (const { sealed } of await gateway.database.query<{ sealed: Buffer }>(
        `select ${column} as sealed from ${table} where ${column} is not null`,
      )) {
        const isUnder = sealed.subarray(0, box.sealHeader.length).equals(box.sealHeader);
        if (isUnder) box.open(sealed);
        if (isUnder) yes += 1;
        else no += 1;
      }
  return { yes, no };
}

test('serve and commands reject a wrong secret key, with its fingerprint and that of the right one', async () => {
  const served = await session.run(directory, ['serve', '--role', 'gateway'], env(OTHER));
  const connected = await session.run(
    directory,
    ['channel', 'connect', '--tenant', gateway.tenant.slug, '--phone-number-id', '9', '--waba-id', '9'].concat([
      '--access-token',
      'a',
      '--app-secret',
      'b',
      '--verify-token',
      'c',
    ]),
    env(OTHER),
  );
  for (const { code, output } of [served, connected]) {
    expect([code, output]).toEqual([1, expect.stringContaining('PARLEY_SECRET_KEY')]);
    expect(output).toContain(fingerprintOf(OTHER));
    expect(output).toContain(fingerprintOf(OLD));
    expect(output).not.toContain(OLD.toString('base64'));
    expect(output).not.toMatch(/ {4}at /);
  }
});

test('a database from before the key check accepts only a key that decrypts its secrets', async () => {
  const [kept] = await gateway.database.query<{ sealed: Buffer }>('select digest_key_sealed as sealed from deployment');
  await gateway.database.query('update deployment set digest_key_sealed = null');
  expect(await serveOnce(OTHER)).toContain(fingerprintOf(OTHER));
  expect(await gateway.database.query('select digest_key_sealed from deployment')).toEqual([
    { digest_key_sealed: null },
  ]);
  expect(await serveOnce(OLD)).toBeUndefined();
  // The gateway of the other tests still uses the first key.
  await gateway.database.query('update deployment set digest_key_sealed = $1', [kept?.sealed]);
});

test('key rotation: both keys decrypt, earlier codes and idempotency keys stay valid, and the old key is rejected once everything is re-encrypted', async () => {
  const { resources } = gateway.gateway;
  const { token } = gateway.tenant;
  const endpoint = dataOf(
    await gateway.graphql(
      'mutation { createWebhookEndpoint(input: { url: "https://example.com/hook", events: ["contact.*"], headers: [{ name: "X-Key", value: "v" }] }) { webhookEndpoint { databaseId } } }',
    ),
  ).createWebhookEndpoint.webhookEndpoint.databaseId;
  await gateway.database.query(
    `insert into webhook_endpoints
     select (jsonb_populate_record(w, jsonb_build_object('id', w.id + 1000000 + n, 'subscription', '\\x' || encode(sha256(n::text::bytea), 'hex')))).* from webhook_endpoints w, generate_series(1, $1) n where w.id = $2`,
    [ENDPOINTS, endpoint],
  );
  const lasting = resources.secrets.permanentMac('test', 'somebody');
  const place = 'phone: "+14155550177"';
  const key = 'one-and-the-same';
  const create = `mutation { createContactGroup(input: { name: "Once", idempotencyKey: "${key}" }) { contactGroup { id } } }`;
  const group = dataOf(await gateway.graphql(create)).createContactGroup.contactGroup.id;

  // New processes next to an old one, as in a rolling restart.
  const next = await startSecondGateway(gateway, gateway.database.url, {}, { secretKey: NEW, previousSecretKey: OLD });
  try {
    expect(next.resources.secrets.permanentMac('test', 'somebody')).toEqual(lasting);
    const mac = resources.secrets.shortLivedMac('otp', place);
    expect(next.resources.secrets.isShortLivedMac('otp', place, mac)).toBe(true);
    expect(dataOf(await next.graphql(create, {}, token)).createContactGroup.contactGroup.id).toBe(group);

    // Interrupted, and started again. It cannot pass the last endpoint before it is killed.
    const lock = await holdLock(
      gateway.database,
      'select 1 from webhook_endpoints where id = (select max(id) from webhook_endpoints) for update',
    );
    const killed = new Program(directory, ['rotate-secrets'], env(NEW, OLD));
    await eventually(async () => expect(await lock.waiting()).toHaveLength(1));
    await killed.kill('SIGKILL');
    const half = await sealedUnder(NEW);
    await lock.release();
    expect(half.yes).toBeGreaterThan(0);
    expect(half.no).toBeGreaterThan(0);
    expect(await serveOnce(OLD)).toBeUndefined();

    expect(await rotate(NEW, OLD)).toMatchObject({ code: 0, output: expect.stringMatching(/Encrypted \d+ secrets/) });
    expect(await sealedUnder(NEW)).toMatchObject({ no: 0 });
    expect((await rotate(NEW, OLD, '--status')).output).not.toMatch(/ [1-9]\d*\n/);
    expect(await rotate(NEW, OLD)).toMatchObject({ code: 0, output: expect.stringContaining('Nothing to do') });

    // Webhooks of the rotated channel are signed with the previously sealed secret.
    dataOf(
      await next.graphql(
        'mutation { createContactGroup(input: { name: "After", idempotencyKey: "after" }) { contactGroup { id } } }',
        {},
        token,
      ),
    );
  } finally {
    await next.stop();
  }
  expect(await serveOnce(OLD)).toContain(fingerprintOf(NEW));
  expect(await serveOnce(NEW)).toBeUndefined();
  const last = await startSecondGateway(gateway, gateway.database.url, {}, { secretKey: NEW });
  expect(last.resources.secrets.permanentMac('test', 'somebody')).toEqual(lasting);
  await last.stop();
});

test('rotate-secrets reports values that neither key decrypts, and the old key stays valid', async () => {
  await gateway.database.query(
    "update channels set app_secret_sealed = '\\x02deadbeef' || substring(app_secret_sealed from 6)",
  );
  const third = randomBytes(32);
  expect(await rotate(third, NEW)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/channels\.app_secret_sealed: 1\n/),
  });
  expect(await serveOnce(NEW)).toBeUndefined();
});
