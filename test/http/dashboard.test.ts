import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { registerDashboard } from '../../src/http/dashboard.ts';

test('a file that could not be read for one request is served to the next', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parley-dashboard-'));
  const app = fastify();
  onTestFinished(async () => {
    await app.close();
    await rm(directory, { recursive: true });
  });
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'assets', 'main-1.js'), 'run()');
  await writeFile(join(directory, 'index.html'), '<p>Parley</p>');
  await registerDashboard(app, { publicUrl: undefined }, directory);
  const [there, away] = [join(directory, 'index.html'), join(directory, 'away.html')];
  await rename(there, away);
  expect((await app.inject('/inbox')).statusCode).toBe(500);
  await rename(away, there);
  const page = await app.inject('/inbox');
  expect([page.statusCode, page.body]).toEqual([200, '<p>Parley</p>']);
});
