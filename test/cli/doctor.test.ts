import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
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

async function examine(env: Record<string, string> = {}) {
  const { code, output } = await session.run(directory, ['doctor', '--json'], {
    DATABASE_URL: gateway.database.url,
    PARLEY_SECRET_KEY: gateway.secretKey,
    PARLEY_NETWORK_URL: gateway.emulator.url,
    PARLEY_PUBLIC_URL: 'https://parley.example',
    PARLEY_MEDIA_DIR: gateway.mediaDirectory,
    ...env,
  });
  const findings = JSON.parse(output.slice(0, output.lastIndexOf(']') + 1)) as Finding[];
  return { code, findings, of: (check: string) => findings.find(finding => finding.check.startsWith(check)) };
}

test('a sound deployment is fine throughout, its channel included', async () => {
  const { code, findings, of } = await examine();
  expect(findings.filter(({ state }) => state === 'failed')).toEqual([]);
  expect(of('channel ')).toMatchObject({ state: 'ok' });
  expect(of('migrations')).toMatchObject({ state: 'ok' });
  expect(code).toBe(0);
});

test('without a database the rest is examined, and the finding says what to do', async () => {
  const { code, of } = await examine({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
  expect(of('database')).toMatchObject({ state: 'failed', finding: expect.stringContaining('ECONNREFUSED') });
  expect(of('public address')).toMatchObject({ state: 'ok' });
  expect(code).toBe(1);
});

test('an empty directory in place of the files fails with what to do, and serve refuses it until it is adopted', async () => {
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

test('the directory of another deployment is refused, and left as it is', async () => {
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

test('another key fails with what to do', async () => {
  const { code, of } = await examine({ PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64') });
  expect(of('secret key')).toMatchObject({ state: 'failed', advice: 'Set the PARLEY_SECRET_KEY of this database.' });
  expect(code).toBe(1);
});

test('a network that does not answer fails the channel, and not the other checks', async () => {
  const { code, of } = await examine({ PARLEY_NETWORK_URL: 'http://127.0.0.1:9' });
  expect(of('channel ')).toMatchObject({ state: 'failed' });
  expect(of('partitions')).toMatchObject({ state: 'ok' });
  expect(code).toBe(1);
});

test('without a public address it warns', async () => {
  const { code, of } = await examine({ PARLEY_PUBLIC_URL: '' });
  expect(of('public address')).toMatchObject({ state: 'warning' });
  expect(code).toBe(0);
});
