import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printFindings } from '../../src/cli/findings.ts';
import { startFakeRedis } from '../support/fake-redis.ts';
import { startGateway, type TestGateway, VERIFY_TOKEN } from '../support/gateway.ts';
import { Session } from './program.ts';

let gateway: TestGateway;
let session: Session;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-doctor-'));
  session = new Session();
  gateway = await startGateway();
});
afterAll(async () => {
  await session.close();
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly finding: string;
  readonly advice: string;
}

async function examine(env: Record<string, string> = {}, ...options: string[]) {
  const { code, output } = await session.run(directory, ['doctor', '--json', ...options], {
    DATABASE_URL: gateway.database.url,
    PARLEY_SECRET_KEY: gateway.secretKey,
    PARLEY_NETWORK_URL: gateway.emulator.url,
    PARLEY_PUBLIC_URL: gateway.url,
    PARLEY_MEDIA_DIR: gateway.mediaDirectory,
    ...env,
  });
  const findings = JSON.parse(output.slice(0, output.lastIndexOf(']') + 1)) as Finding[];
  return { code, findings, of: (check: string) => findings.find(finding => finding.check.startsWith(check)) };
}

test('all findings of a correct deployment are ok, including its channel', async () => {
  const { code, findings, of } = await examine();
  expect(findings.filter(({ state }) => state === 'failed')).toEqual([]);
  expect(of('channel ')).toMatchObject({ state: 'ok' });
  expect(of('migrations')).toMatchObject({ state: 'ok' });
  expect(code).toBe(0);
});

test('an event that a reader has set aside fails, is listed with its error, and is gone after a retry', async () => {
  await gateway.database.query(
    `insert into events (tenant_id, id, type, payload)
     values ($1, uuid_v7(now(), 1), 'group.created', '{"group":{"id":1,"name":"Set aside"}}')`,
    [gateway.tenant.id],
  );
  await gateway.database.query(
    `insert into log_set_aside (tenant_id, event_id, reader, error)
     select tenant_id, id, 'webhooks', 'invalid input syntax' from events where type = 'group.created'`,
  );
  const { code, of } = await examine();
  expect(code).toBe(1);
  expect(of('log readers')).toMatchObject({ state: 'failed', finding: 'events that webhooks could not consume: 1' });
  const env = { DATABASE_URL: gateway.database.url, PARLEY_SECRET_KEY: gateway.secretKey };
  const { output } = await session.run(directory, ['readers'], env);
  expect(output).toMatch(/^webhooks +\d+ +1$/m);
  expect(output).toMatch(/webhooks +\d+ +[\da-f-]{36} +group\.created +invalid input syntax/);
  const retried = await session.run(directory, ['readers', 'retry', '--json'], env);
  expect(retried.code).toBe(0);
  expect(JSON.parse(retried.output)).toMatchObject([{ reader: 'webhooks', outcome: 'consumed', error: null }]);
  expect((await examine()).of('log readers')).toMatchObject({ state: 'ok' });
});

test('a reader that is behind is a warning', async () => {
  await gateway.database.query(
    `insert into log_readers (name, xid, seq) values ('stopped', '0', 0);
     update events set occurred_at = now() - interval '5 minutes'`,
  );
  const { code, of } = await examine();
  expect(code).toBe(0);
  expect(of('log readers')).toMatchObject({
    state: 'warning',
    finding: expect.stringMatching(/stopped is 30\d s behind/),
  });
  await gateway.database.query("delete from log_readers where name = 'stopped'");
});

test('without a database the other checks run, and the finding has a remedy', async () => {
  const { code, of } = await examine({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
  expect(of('database')).toMatchObject({ state: 'failed', finding: expect.stringContaining('ECONNREFUSED') });
  expect(of('webhook address')).toMatchObject({ state: 'ok' });
  expect(code).toBe(1);
});

test('a database without a free connection fails with the advice to raise their number', async () => {
  await gateway.database.query('create role doctor_full login password $$x$$ connection limit 0');
  const url = new URL(gateway.database.url);
  [url.username, url.password] = ['doctor_full', 'x'];
  const { of } = await examine({ DATABASE_URL: url.href });
  expect(of('database')).toMatchObject({ state: 'failed', advice: expect.stringContaining('max_connections') });
  await gateway.database.query('drop role doctor_full');
});

test('in the directory of a development gateway the channels are checked on its emulator', async () => {
  const development = join(directory, 'development');
  await mkdir(join(development, '.parley'), { recursive: true });
  const facts = {
    databaseUrl: gateway.database.url,
    emulatorUrl: gateway.emulator.url,
    baseUrl: gateway.url,
    verifyToken: VERIFY_TOKEN,
  };
  await writeFile(join(development, '.parley/dev.json'), JSON.stringify(facts));
  const env = { PARLEY_SECRET_KEY: gateway.secretKey, PARLEY_MEDIA_DIR: gateway.mediaDirectory };
  const { output } = await session.run(development, ['doctor'], env);
  expect(output).toMatch(/^✓ ok +channel \d+ of \S+/m);
  expect(output).toMatch(/^✓ ok +webhook address +\S+ answers the\s+verification$/m);
});

test('an empty media directory fails with a remedy, and serve refuses it until it is adopted', async () => {
  const empty = { PARLEY_MEDIA_DIR: join(directory, 'empty'), PORT: '0' };
  const { code, of } = await examine(empty);
  expect([code, of('files')]).toMatchObject([
    1,
    {
      state: 'failed',
      finding: expect.stringContaining('has no .deployment'),
      advice: expect.stringContaining('Mount'),
    },
  ]);
  expect((await examine()).of('files')).toMatchObject({ state: 'ok' });
  const env = { DATABASE_URL: gateway.database.url, PARLEY_SECRET_KEY: gateway.secretKey, ...empty };
  const refused = await session.run(directory, ['serve'], env);
  expect([refused.code, refused.output]).toEqual([1, expect.stringMatching(/empty has no \.deployment.*adopt-media/s)]);
  expect((await session.run(directory, ['adopt-media'], env)).code).toBe(0);
  expect((await examine(empty)).of('files')).toMatchObject({ state: 'ok' });
});

test('the directory of another deployment is refused and not changed', async () => {
  const foreign = join(directory, 'foreign');
  await mkdir(foreign);
  const marker = join(foreign, '.deployment');
  const id = '01890000-0000-4000-8000-000000000000\n';
  await writeFile(marker, id);
  const { of } = await examine({ PARLEY_MEDIA_DIR: foreign });
  expect(of('files')).toMatchObject({ state: 'failed', finding: expect.stringContaining('another deployment') });
  const env = { DATABASE_URL: gateway.database.url, PARLEY_SECRET_KEY: gateway.secretKey, PARLEY_MEDIA_DIR: foreign };
  const refused = await session.run(directory, ['serve'], { ...env, PORT: '0' });
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('files of another deployment')]);
  expect(await readFile(marker, 'utf8')).toBe(id);
});

test('a bucket that can be read, but not written, fails', async () => {
  const marker = await readFile(join(gateway.mediaDirectory, '.deployment'));
  let isReadOnly = true;
  const bucket = createServer((request, response) => {
    if (request.method === 'GET') response.end(marker);
    else if (isReadOnly) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    else response.writeHead(request.method === 'PUT' ? 200 : 204).end();
  });
  await once(bucket.listen(0, '127.0.0.1'), 'listening');
  const env = {
    PARLEY_MEDIA_S3_BUCKET: 'files',
    PARLEY_MEDIA_S3_ENDPOINT: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
    PARLEY_MEDIA_S3_ACCESS_KEY_ID: 'id',
    PARLEY_MEDIA_S3_SECRET_ACCESS_KEY: 'secret',
  };
  const { code, of } = await examine(env);
  expect([code, of('files')]).toMatchObject([1, { state: 'failed', finding: expect.stringContaining('written') }]);
  isReadOnly = false;
  expect((await examine(env)).of('files')).toMatchObject({ state: 'ok' });
  bucket.closeAllConnections();
  bucket.close();
});

test('a wrong secret key fails with a remedy', async () => {
  const { code, of } = await examine({ PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
  expect(of('secret key')).toMatchObject({ state: 'failed', advice: 'Set the PARLEY_SECRET_KEY of this database.' });
  expect(code).toBe(1);
});

test('an unresponsive network fails the check of the channel, and no other', async () => {
  const { code, of } = await examine({ PARLEY_NETWORK_URL: 'http://127.0.0.1:9' });
  expect(of('channel ')).toMatchObject({ state: 'failed' });
  expect(of('partitions')).toMatchObject({ state: 'ok' });
  expect(code).toBe(1);
});

test('a Redis that answers is ok, and one that refuses or is away fails with its own words', async () => {
  const redis = async (refuses: Record<string, string>, credentials = '') => {
    const server = await startFakeRedis(refuses);
    const { of } = await examine({ REDIS_URL: `redis://${credentials}${server.host}` }, '--no-network');
    server.stop();
    return of('Redis');
  };
  expect(await redis({})).toMatchObject({ state: 'ok' });
  const wrong = await redis({ auth: '-WRONGPASS invalid username-password pair' }, ':hunter2@');
  expect(wrong).toMatchObject({ state: 'failed', finding: expect.stringMatching(/^refused at .*WRONGPASS/) });
  expect(JSON.stringify(wrong)).not.toContain('hunter2');
  expect(await redis({ set: '-OOM command not allowed' })).toMatchObject({
    state: 'failed',
    finding: expect.stringContaining('OOM command not allowed'),
  });
  expect(await redis({ publish: '-NOPERM No permissions to access a channel' })).toMatchObject({
    state: 'failed',
    finding: expect.stringContaining('to access a channel'),
  });
  expect((await examine({ REDIS_URL: 'redis://127.0.0.1:9' }, '--no-network')).of('Redis')).toMatchObject({
    state: 'failed',
    finding: expect.stringMatching(/^does not answer at .*ECONNREFUSED/),
  });
});

test('the webhook address is verified as the network does it, and each wrong response is reported with its remedy', async () => {
  const state = async (env: Record<string, string>, ...options: string[]) =>
    (await examine(env, ...options)).of('webhook address');
  expect(await state({})).toMatchObject({ state: 'ok', finding: expect.stringContaining('--verify-token') });
  const file = join(directory, 'verify-token');
  await writeFile(file, `${VERIFY_TOKEN}\n`);
  expect(await state({}, '--verify-token', `@${file}`)).toMatchObject({
    state: 'ok',
    finding: `${gateway.url}/network/cloud-api/webhook answers the verification`,
  });
  expect(await state({}, '--verify-token', 'another')).toMatchObject({
    state: 'failed',
    finding: expect.stringContaining('rejects the verify token'),
  });
  expect(await state({ PARLEY_PUBLIC_URL: 'http://127.0.0.1:9' })).toMatchObject({
    state: 'failed',
    finding: expect.stringContaining('does not answer from here'),
    advice: expect.stringContaining('parley serve'),
  });
  // The same path of another server, and of a proxy that sends everybody to its own page.
  expect(await state({ PARLEY_PUBLIC_URL: gateway.emulator.url })).toMatchObject({
    state: 'failed',
    finding: expect.stringMatching(/answers 4\d\d, not as/),
  });
  const proxy = createServer((_request, response) => response.writeHead(302, { location: '/sign-in' }).end());
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = proxy.address() as AddressInfo;
  expect(await state({ PARLEY_PUBLIC_URL: `http://127.0.0.1:${port}` })).toMatchObject({
    state: 'failed',
    finding: expect.stringContaining('redirects to /sign-in'),
  });
  proxy.close();
  expect(await state({}, '--no-network')).toBeUndefined();
});

test('findings are wrapped to the width of the terminal, with the advice on separate lines', async () => {
  const text: string[] = [];
  const terminal = new Writable({ write: (chunk, _encoding, done) => done(void text.push(String(chunk))) });
  const advice = 'Set PARLEY_PUBLIC_URL to the https address under which the network and browsers reach this gateway.';
  const findings = [
    { check: 'database', state: 'ok', finding: 'PostgreSQL 18', advice: '' },
    { check: 'public address', state: 'warning', finding: 'is not\nset', advice },
    { check: `channels of ${'x'.repeat(40)}`, state: 'failed', finding: 'none', advice: 'Connect one.' },
  ] as const;
  printFindings(findings, Object.assign(terminal, { columns: 70 }));
  const lines = text.join('').split('\n');
  expect(lines.slice(0, 3)).toEqual([
    '✓ ok       database        PostgreSQL 18',
    '! warning  public address  is not set',
    '                           → Set PARLEY_PUBLIC_URL to the https',
  ]);
  expect(lines.slice(-4)).toEqual([
    `✗ failed   channels of ${'x'.repeat(40)}`,
    '                           none',
    '                           → Connect one.',
    '',
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(70);
});

test('a missing public URL is a warning', async () => {
  const { code, of } = await examine({ PARLEY_PUBLIC_URL: '' });
  expect(of('public address')).toMatchObject({ state: 'warning' });
  expect(code).toBe(0);
});
