import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { sql } from 'kysely';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../src/database/database.ts';
import { createLog } from '../../src/platform/log.ts';

/** One message of PostgreSQL's protocol: type, length, body. */
function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const READY_AND_GONE = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('Z', Buffer.from('I')),
  message('E', 'SFATAL', 'C57P01', 'Mterminating connection due to administrator command', Buffer.alloc(1)),
]);

test('a connection that fails in the packet that makes it ready does not crash the process', async () => {
  const server = createServer(socket => {
    socket.once('data', () => socket.end(READY_AND_GONE));
    socket.on('error', () => undefined);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const database = createDatabase({
    url: `postgres://nobody@127.0.0.1:${port}/nowhere`,
    poolSize: 1,
    readers: 1,
    log: createLog('silent'),
  });
  const client = await database.connect();
  await expect(client.query('select 1')).rejects.toThrow();
  await database.close();
});

test.each(['write', 'leases'] as const)(
  'a connection of the %s pool that fails while in use does not crash the process',
  async pool => {
    const database = createDatabase({ url: inject('serverUrl'), poolSize: 1, readers: 1, log: createLog('silent') });
    onTestFinished(() => database.close());
    // A transaction keeps the connection in use; it fails between two statements, when no query is there to receive the error.
    const broken = database[pool].transaction().execute(async trx => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.read);
      await expect
        .poll(() =>
          sql`select 1`.execute(trx).then(
            () => 'open',
            () => 'broken',
          ),
        )
        .toBe('broken');
      await sql`select 1`.execute(trx);
    });
    await expect(broken).rejects.toThrow();
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database[pool]);
    expect(rows).toEqual([{ one: 1 }]);
  },
);
