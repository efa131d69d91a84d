import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../src/platform/database.ts';
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

test('a connection that ends in the packet that makes it ready does not end the process', async () => {
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
