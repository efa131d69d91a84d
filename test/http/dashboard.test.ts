import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { registerDashboard } from '../../src/http/dashboard.ts';

/** Serves a build with these files besides a script. */
async function serving(files: Readonly<Record<string, string>>): Promise<{ app: FastifyInstance; directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-dashboard-'));
  const app = fastify();
  onTestFinished(async () => {
    await app.close();
    await rm(directory, { recursive: true });
  });
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'assets', 'main-1.js'), 'run()');
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  await registerDashboard(app, { publicUrl: undefined }, directory);
  return { app, directory };
}

test('a file that could not be read for one request is served to the next', async () => {
  const { app, directory } = await serving({ 'index.html': '<p>Parley</p>' });
  const [there, away] = [join(directory, 'index.html'), join(directory, 'away.html')];
  await rename(there, away);
  expect((await app.inject('/inbox')).statusCode).toBe(500);
  await rename(away, there);
  const page = await app.inject('/inbox');
  expect([page.statusCode, page.body]).toEqual([200, '<p>Parley</p>']);
});

test.each([
  ['br, gzip', 'br'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br; q=0.0, gzip;q=0.5', 'gzip'],
  ['br;q=0.1', 'br'],
  ['br;q=0', 'identity'],
  ['identity', 'identity'],
  ['', 'identity'],
])('a file has no content coding that Accept-Encoding refuses: %j gets %s', async (accepted, coding) => {
  const { app } = await serving({ 'index.html': 'identity', 'index.html.br': 'br', 'index.html.gz': 'gzip' });
  const { body, headers } = await app.inject({ url: '/inbox', headers: { 'accept-encoding': accepted } });
  expect([body, headers['content-encoding'] ?? 'identity']).toEqual([coding, coding]);
});
