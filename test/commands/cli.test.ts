import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { Program, run } from './program.ts';

let directory: string;
let database: TestDatabase;
const env = (): Record<string, string> => ({
  DATABASE_URL: database.url,
  PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

test('every command has --help', { timeout: 60_000 }, async () => {
  const commands = [
    [],
    ['dev'],
    ['serve'],
    ['migrate'],
    ['tenant'],
    ['tenant', 'create'],
    ['tenant', 'list'],
    ['tenant', 'update'],
    ['token'],
    ['token', 'create'],
    ['token', 'list'],
    ['token', 'revoke'],
    ['channel'],
    ['channel', 'connect'],
    ['channel', 'list'],
    ['emulator'],
    ['schema'],
  ];
  for (const command of commands) {
    const { code, output } = await run(directory, [...command, '--help']);
    expect([command, code, output.includes('Usage: parley')]).toEqual([command, 0, true]);
  }
});

test('parley schema prints what is committed', async () => {
  const { code, output } = await run(directory, ['schema']);
  expect(code).toBe(0);
  expect(output).toBe(await readFile('schema.graphql', 'utf8'));
});

test('faults of a user are sentences with an exit code, never a stack trace', { timeout: 60_000 }, async () => {
  const cases: readonly [args: string[], env: Record<string, string>, says: RegExp][] = [
    [['serve'], {}, /DATABASE_URL[\s\S]*PARLEY_SECRET_KEY/],
    [['serve'], { ...env(), PORT: 'x', PARLEY_LANES: '0' }, /PORT[\s\S]*PARLEY_LANES/],
    [['tenant', 'list'], {}, /No database: set DATABASE_URL/],
    [['tenant', 'list'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, /does not answer/],
    [['tenant', 'create', 'Big Corp'], env(), /slug/],
    [
      ['tenant', 'create', 'acme', '--plan', 'gold'],
      env(),
      /There is no plan gold\. There are starter, standard, unlimited\./,
    ],
    [['tenant', 'update', 'nobody', '--name', 'x'], env(), /There is no tenant nobody/],
    [['token', 'create', '--tenant', 'nobody'], env(), /There is no tenant nobody/],
    [['frobnicate'], {}, /unknown command/],
  ];
  for (const [args, environment, says] of cases) {
    const { code, output } = await run(directory, args, environment);
    expect(output).toMatch(says);
    expect(output).not.toMatch(/\n\s+at /);
    expect(code).not.toBe(0);
  }
});

test('a tenant, its tokens and its life are managed from the command line', { timeout: 60_000 }, async () => {
  expect(
    (await run(directory, ['tenant', 'create', 'acme', '--name', 'Acme Inc.', '--plan', 'starter'], env())).output,
  ).toMatch(/acme\s+Acme Inc\.\s+active\s+starter\s+0\/1000/);
  expect((await run(directory, ['tenant', 'create', 'acme'], env())).output).toContain(
    'There is a tenant acme already.',
  );
  const created = await run(
    directory,
    ['token', 'create', '--tenant', 'acme', '--scopes', 'contacts.create,groups:*', '--expires', '2d', '--rate', '90'],
    env(),
  );
  expect(created).toMatchObject({ code: 0, output: expect.stringMatching(/ply_\w{49}/) });
  const [token] = JSON.parse((await run(directory, ['token', 'list', '--tenant', 'acme', '--json'], env())).output);
  expect(token).toMatchObject({
    scopes: 'contacts:write,groups:delete,groups:read,groups:write',
    calls_per_minute: 90,
    revoked_at: null,
  });
  expect((await run(directory, ['token', 'revoke', String(token.id), '--tenant', 'acme'], env())).code).toBe(0);
  const updated = await run(
    directory,
    ['tenant', 'update', 'acme', '--status', 'suspended', '--window-policy', 'refuse', '--opt-out-words', 'Ende, Halt'],
    env(),
  );
  expect(updated.output).toMatch(/suspended[\s\S]*refuse/);
  expect(await database.query('select opt_out_words from tenants where slug = $1', ['acme'])).toEqual([
    { opt_out_words: ['ende', 'halt'] },
  ]);
});

test('two migrations at once are safe, and a database without them is named by serve', {
  timeout: 60_000,
}, async () => {
  await database.query('create database fresh_for_migrations');
  const address = new URL(database.url);
  address.pathname = '/fresh_for_migrations';
  const fresh = { ...env(), DATABASE_URL: address.href };
  const early = await run(directory, ['serve'], { ...fresh, PORT: '0' });
  expect(early.output).toMatch(/lacks \d+ migration\(s\).*Run `parley migrate` first/);
  const both = await Promise.all([run(directory, ['migrate'], fresh), run(directory, ['migrate'], fresh)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(both.map(({ output }) => /^Applied 0001/.test(output)).filter(Boolean)).toHaveLength(1);
  await database.query('drop database fresh_for_migrations with (force)');
});

test('a worker serves its health and nothing else', { timeout: 30_000 }, async () => {
  const port = String(20_000 + (process.pid % 20_000));
  const worker = new Program(directory, ['serve', '--role', 'worker'], { ...env(), PORT: port });
  await worker.says('listening');
  const status = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  expect([await status('/readyz'), await status('/graphql'), await status('/api/v2/contacts')]).toEqual([
    200, 404, 404,
  ]);
  expect((await worker.kill('SIGTERM')).code).toBe(0);
});
