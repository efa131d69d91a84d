import { once } from 'node:events';
import { createServer } from 'node:net';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { connectRedis } from '../../src/platform/redis/connection.ts';

function recordingLog() {
  const lines: string[] = [];
  return { lines, log: createLog('info', { write: line => void lines.push(line) }) };
}

test('the password that Redis refuses is not logged', async () => {
  const server = createServer(socket => {
    socket.on('error', () => undefined).on('data', () => socket.write('-WRONGPASS invalid username-password pair\r\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const { lines, log } = recordingLog();
  const redis = connectRedis(`redis://:hush-hush@127.0.0.1:${port}`, log, 1_000);
  await expect.poll(() => lines).toHaveLength(1);
  expect(lines[0]).toContain('WRONGPASS');
  expect(lines[0]).not.toContain('hush-hush');
  await redis.close();
  server.close();
});

test('the values of a row that the database refuses are not logged', async () => {
  const client = new pg.Client({ connectionString: inject('serverUrl') });
  await client.connect();
  await client.query('create temporary table people (phone text, name text not null)');
  const error = await client.query(`insert into people values ('+4915112345678', null)`).catch(failed => failed);
  await client.end();
  const { lines, log } = recordingLog();
  log.error({ err: error }, 'failed');
  expect(lines.join()).toContain('null value in column');
  expect(lines.join()).not.toContain('+4915112345678');
});
