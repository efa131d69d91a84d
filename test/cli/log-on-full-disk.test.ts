import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';
import { freePort } from '../support/processes.ts';

test('a gateway whose log is on a full disk answers, says so once, and stops when it is told to', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const directory = await mkdtemp(join(tmpdir(), 'parley-full-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const port = await freePort();
  const full = openSync('/dev/full', 'w');
  const gateway = spawn(process.execPath, [resolve('src/launch.js'), 'serve', '--migrate'], {
    cwd: directory,
    stdio: ['ignore', full, 'pipe'],
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATABASE_URL: database.url,
      PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  });
  closeSync(full);
  onTestFinished(() => void gateway.kill('SIGKILL'));
  let errors = '';
  gateway.stderr?.on('data', piece => {
    errors += piece;
  });
  const ended = once(gateway, 'exit');
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) });
    expect(answer.status).toBe(200);
  });
  // Each request has a line.
  for (let count = 0; count < 10; count += 1)
    expect((await fetch(`http://127.0.0.1:${port}/api/v2/account`)).status).toBe(401);
  gateway.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(errors.match(/The log cannot be written: ENOSPC/g)).toHaveLength(1);
});
