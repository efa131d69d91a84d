import { mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DevFacts } from '../../src/commands/database.ts';
import { eventually } from '../support/gateway.ts';
import { Program, run } from './program.ts';

let directory: string;
let program: Program;

const ANY_PORTS = { PORT: '0', PARLEY_EMULATOR_PORT: '0' };
const start = async (args: readonly string[] = []): Promise<DevFacts> => {
  program = new Program(directory, ['dev', ...args], ANY_PORTS);
  await program.says('Parley is running');
  return facts();
};
const facts = async (): Promise<DevFacts> => JSON.parse(await readFile(join(directory, '.parley/dev.json'), 'utf8'));

async function graphql({ graphqlUrl, token }: DevFacts, query: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const answer = await fetch(graphqlUrl, { method: 'POST', headers, body: JSON.stringify({ query }) });
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  return (await answer.json()) as { data: any };
}

/** Processes that work in a directory, whatever they are. */
async function processesIn(path: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const at = await Promise.all(
    pids.map(async pid => [pid, await readlink(`/proc/${pid}/cwd`).catch(() => '')] as const),
  );
  return at.filter(([, cwd]) => cwd.startsWith(path)).map(([pid]) => pid);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-dev-'));
}, 60_000);

afterAll(async () => {
  program?.child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

test('parley dev starts everything in an empty directory, and what it prints and writes down is true', {
  timeout: 60_000,
}, async () => {
  const written = await start();
  expect(program.output).toContain(written.token);
  expect(program.output).toContain(written.graphqlUrl);
  expect((await stat(join(directory, '.parley/dev.json'))).mode & 0o777).toBe(0o600);
  expect(Object.keys(written).sort()).toEqual([
    'appSecret',
    'baseUrl',
    'databaseUrl',
    'emulatorUrl',
    'graphqlUrl',
    'phoneNumberId',
    'restV1Url',
    'restV2Url',
    'tenant',
    'token',
    'verifyToken',
    'wabaId',
  ]);
  const { data } = await graphql(
    written,
    '{ viewer { tenant { slug } callsPerMinute } contacts { totalCount } channels { phoneNumberId isSandbox } sources { totalCount } statuses { totalCount } groups { totalCount } }',
  );
  expect(data.viewer).toEqual({ tenant: { slug: 'demo' }, callsPerMinute: 6_000 });
  expect(data.contacts.totalCount).toBeGreaterThanOrEqual(200);
  expect(data.channels).toEqual([{ phoneNumberId: written.phoneNumberId, isSandbox: true }]);
  for (const list of ['sources', 'statuses', 'groups']) expect(data[list].totalCount).toBeGreaterThan(0);
  const templates = (await (await fetch(`${written.emulatorUrl}/_emulator/templates`)).json()) as { data?: unknown[] };
  expect(JSON.stringify(templates)).toContain('APPROVED');
});

test('other commands find the database of the running gateway', { timeout: 30_000 }, async () => {
  const list = await run(directory, ['tenant', 'list', '--json']);
  expect(JSON.parse(list.output)).toMatchObject([{ slug: 'demo' }]);
  const created = await run(directory, ['token', 'create', '--tenant', 'demo', '--scopes', 'contacts:read']);
  const token = /ply_\w+/.exec(created.output)?.[0] ?? '';
  expect((await graphql({ ...(await facts()), token }, '{ viewer { scopes } }')).data.viewer.scopes).toEqual([
    'contacts:read',
  ]);
  const status = await run(directory, ['migrate', '--status']);
  expect(status.output).not.toContain('missing');
});

test('a second one in the same directory is refused with a sentence, and disturbs nothing', {
  timeout: 30_000,
}, async () => {
  const second = await run(directory, ['dev'], ANY_PORTS);
  expect(second).toMatchObject({ code: 1, output: expect.stringMatching(/already running in .* \(process \d+\)/) });
  expect(second.output).not.toMatch(/\n\s+at /);
  expect((await graphql(await facts(), '{ viewer { tenant { slug } } }')).data.viewer.tenant.slug).toBe('demo');
});

test('SIGTERM stops everything within 10 seconds, and no process is left behind', { timeout: 30_000 }, async () => {
  const before = Date.now();
  expect((await program.kill('SIGTERM')).code).toBe(0);
  expect(Date.now() - before).toBeLessThan(10_000);
  await eventually(async () => expect(await processesIn(directory)).toEqual([]));
});

test('a second start keeps the data and the token', { timeout: 30_000 }, async () => {
  const before = await facts();
  const after = await start();
  expect(after.token).toBe(before.token);
  const { data } = await graphql(after, 'mutation { createGroup(input: { name: "Kept" }) { name } }');
  expect(data.createGroup.name).toBe('Kept');
});

test('after kill -9 no database is left behind, and the next start has everything that was answered', {
  timeout: 30_000,
}, async () => {
  await program.kill('SIGKILL');
  await eventually(async () => expect(await processesIn(directory)).toEqual([]), 10_000);
  const { data } = await graphql(await start(), '{ groups(search: "kept") { nodes { name } } }');
  expect(data.groups.nodes).toEqual([{ name: 'Kept' }]);
});

test('a port in use is told in a sentence, and nothing is left running', { timeout: 30_000 }, async () => {
  await program.kill('SIGINT');
  const taken = createServer();
  await new Promise<void>(done => taken.listen(0, '127.0.0.1', done));
  const { port } = taken.address() as { port: number };
  const refused = await run(directory, ['dev'], { ...ANY_PORTS, PORT: String(port) });
  taken.close();
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(`Port ${port} on 127.0.0.1 is in use.`);
  expect(refused.output).not.toMatch(/\n\s+at /);
  await eventually(async () => expect(await processesIn(directory)).toEqual([]));
});

test('--reset forgets the data of earlier starts', { timeout: 30_000 }, async () => {
  const before = (await facts()).token;
  const fresh = await start(['--reset']);
  expect(fresh.token).not.toBe(before);
  expect((await graphql(fresh, '{ groups(search: "kept") { totalCount } }')).data.groups.totalCount).toBe(0);
  await program.kill('SIGTERM');
});
