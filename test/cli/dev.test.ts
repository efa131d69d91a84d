import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { DevFacts } from '../../src/cli/database.ts';
import { durationOf } from '../support/durations.ts';
import { makeFastDirectory } from '../support/fast-directory.ts';
import { Program, type Running, Session } from './program.ts';

let directory: string;
let program: Program;
/** Commands that need no separate process, and starts that a signal ends gracefully. */
let session: Session;

const ANY_PORTS = { PORT: '0', PARLEY_EMULATOR_PORT: '0' };
const facts = async (): Promise<DevFacts> => JSON.parse(await readFile(join(directory, '.parley/dev.json'), 'utf8'));

/** Starts a gateway in the session; it runs until `stop`. */
async function start(...args: string[]): Promise<Running> {
  const dev = session.start(directory, ['dev', ...args], ANY_PORTS);
  await dev.says('Parley is running');
  return dev;
}

async function graphql({ graphqlUrl, token }: DevFacts, query: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const answer = await fetch(graphqlUrl, { method: 'POST', headers, body: JSON.stringify({ query }) });
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer it says by assertions
  return (await answer.json()) as { data: any };
}

const KEPT = '{ groups: contactGroups(search: "kept") { nodes { name } } }';

/** All processes whose working directory is this one. */
async function processesIn(path: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const at = await Promise.all(
    pids.map(async pid => [pid, await readlink(`/proc/${pid}/cwd`).catch(() => '')] as const),
  );
  return at.filter(([, cwd]) => cwd.startsWith(path)).map(([pid]) => pid);
}

const nothingRuns = (): Promise<void> =>
  vi.waitFor(async () => expect(await processesIn(directory)).toEqual([]), 30_000);

beforeAll(async () => {
  directory = await makeFastDirectory('parley-dev-');
  session = new Session();
});

afterAll(async () => {
  program?.child.kill('SIGKILL');
  session.child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

test('parley dev starts everything in an empty directory, and the printed and written information is correct', async () => {
  program = new Program(directory, ['dev'], ANY_PORTS);
  await program.says('Parley is running');
  const written = await facts();
  expect(program.output).toContain(written.token);
  expect(program.output).toContain(written.graphqlUrl);
  expect((await stat(join(directory, '.parley/dev.json'))).mode & 0o777).toBe(0o600);
  expect(Object.keys(written).sort()).toEqual([
    'appSecret',
    'baseUrl',
    'dashboardUrl',
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
    '{ viewer { account { subdomain } callsPerMinute } contacts { totalCount } channels { nodes { phoneNumberId isSandbox } } contactSources { totalCount } contactStatuses { totalCount } contactGroups { totalCount } }',
  );
  expect(data.viewer).toEqual({ account: { subdomain: 'demo' }, callsPerMinute: 6_000 });
  expect(data.contacts.totalCount).toBeGreaterThanOrEqual(200);
  expect(data.channels.nodes).toEqual([{ phoneNumberId: written.phoneNumberId, isSandbox: true }]);
  for (const list of ['contactSources', 'contactStatuses', 'contactGroups'])
    expect(data[list].totalCount).toBeGreaterThan(0);
  const templates = (await (await fetch(`${written.emulatorUrl}/_emulator/templates`)).json()) as { data?: unknown[] };
  expect(JSON.stringify(templates)).toContain('APPROVED');
});

test('the demo tenant has a message bot and a template bot, which answer', async () => {
  const written = await facts();
  for (const [from, text, answer] of [
    ['14155550111', 'What are your opening hours?', /from 9 to 17/],
    ['14155550112', 'Where is my order?', /order 4711 is on its way/],
  ] as const) {
    await fetch(`${written.emulatorUrl}/_emulator/inbound`, {
      method: 'POST',
      body: JSON.stringify({ from, text, phoneNumberId: written.phoneNumberId }),
    });
    await vi.waitFor(
      async () => {
        const { data } = await graphql(
          written,
          '{ messages(filter: { direction: { eq: OUTBOUND } }) { nodes { text status } } }',
        );
        expect(data.messages.nodes).toContainEqual({
          text: expect.stringMatching(answer),
          status: expect.stringMatching(/SENT|DELIVERED|READ/),
        });
      },
      { timeout: 60_000, interval: 200 },
    );
  }
});

test('the demo tenant has conversations of a fortnight, a shop with an order, canned replies and a campaign', async () => {
  const written = await facts();
  await vi.waitFor(
    async () => {
      const { data } = await graphql(
        written,
        '{ conversationCounts { open snoozed closed } conversations(last: 1) { totalCount nodes { lastActivityAt } } cannedReplies { totalCount } integrations { nodes { deliveries { nodes { outcome } } } } campaigns { nodes { status } } }',
      );
      expect(data.conversations.totalCount).toBeGreaterThan(35);
      expect(Date.parse(data.conversations.nodes[0].lastActivityAt)).toBeLessThan(Date.now() - 7 * 86_400_000);
      for (const count of Object.values(data.conversationCounts)) expect(count).toBeGreaterThan(3);
      expect(data.cannedReplies.totalCount).toBe(3);
      expect(data.integrations.nodes).toEqual([{ deliveries: { nodes: [{ outcome: 'ACTED' }] } }]);
      expect(data.campaigns.nodes).toEqual([{ status: 'DRAFT' }]);
    },
    { timeout: 60_000, interval: 200 },
  );
});

test('other commands find the database of the running gateway', async () => {
  const list = await session.run(directory, ['tenant', 'list', '--json']);
  expect(JSON.parse(list.output)).toMatchObject([{ slug: 'demo' }]);
  const created = await session.run(directory, ['token', 'create', '--tenant', 'demo', '--scopes', 'contacts:read']);
  const token = /ply_\w+/.exec(created.output)?.[0] ?? '';
  expect((await graphql({ ...(await facts()), token }, '{ viewer { scopes } }')).data.viewer.scopes).toEqual([
    'CONTACTS_READ',
  ]);
  const status = await session.run(directory, ['migrate', '--status']);
  expect(status.output).not.toContain('missing');
});

test('a second parley dev in the same directory is rejected with a message, and does not disturb the first', async () => {
  const second = await session.run(directory, ['dev'], ANY_PORTS);
  expect(second).toMatchObject({ code: 1, output: expect.stringMatching(/already running in .* \(process \d+\)/) });
  expect(second.output).not.toMatch(/\n\s+at /);
  expect((await graphql(await facts(), '{ viewer { account { subdomain } } }')).data.viewer.account.subdomain).toBe(
    'demo',
  );
});

test('after kill -9 no database keeps running, and the next start has all acknowledged data', async () => {
  const { data } = await graphql(
    await facts(),
    'mutation { createContactGroup(input: { name: "Kept" }) { contactGroup { name } } }',
  );
  expect(data.createContactGroup.contactGroup.name).toBe('Kept');
  await program.kill('SIGKILL');
  await nothingRuns();
  const dev = await start();
  expect((await graphql(await facts(), KEPT)).data.groups.nodes).toEqual([{ name: 'Kept' }]);
  expect((await dev.kill('SIGINT')).code).toBe(0);
  await nothingRuns();
});

test('a second start keeps the data and the token, and prints its facts as JSON with --json', async () => {
  const before = await facts();
  const dev = session.start(directory, ['dev', '--json'], ANY_PORTS);
  await dev.says('}\n');
  const after = await facts();
  expect(JSON.parse(dev.output)).toEqual(after);
  expect(after.token).toBe(before.token);
  expect((await graphql(after, KEPT)).data.groups.nodes).toEqual([{ name: 'Kept' }]);
  expect((await dev.kill('SIGHUP')).code).toBe(0);
});

test('a port in use is reported, and nothing keeps running, even under npm', async () => {
  const taken = createServer();
  await new Promise<void>(done => taken.listen(0, '127.0.0.1', done));
  const { port } = taken.address() as { port: number };
  const npm = { npm_lifecycle_event: 'start' };
  const refused = await session.run(directory, ['dev'], { ...ANY_PORTS, ...npm, PORT: String(port) });
  taken.close();
  expect(refused.code).toBe(1);
  expect(refused.output).toContain(`Port ${port} on 127.0.0.1 is in use.`);
  expect(refused.output).not.toMatch(/\n\s+at /);
  await nothingRuns();
});

test('--reset deletes the data of earlier starts', async () => {
  const before = (await facts()).token;
  await start('--reset');
  const fresh = await facts();
  expect(fresh.token).not.toBe(before);
  expect((await graphql(fresh, KEPT)).data.groups.nodes).toEqual([]);
});

test('SIGTERM stops everything within 10 seconds, and no process keeps running', async () => {
  const duration = await durationOf(async () => {
    // With no further command to come, the process must end by itself: nothing is open, of this start or one before.
    const ended = session.close();
    session.child.kill('SIGTERM');
    expect(await ended).toEqual({ code: 0, signal: null });
  });
  expect(duration).toBeLessThan(10_000);
  await nothingRuns();
});
