import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FileStore, FileStoreError } from '../../../src/platform/files/file-store.ts';
import { openS3Store } from '../../../src/platform/files/s3-store.ts';

/** A storage that answers no request as it should. */

let answer: (response: ServerResponse) => void = () => undefined;
const storage = createServer((_request, response) => answer(response));
// Asked before it is sent a file, it answers at once and reads nothing.
storage.on('checkContinue', (_request, response: ServerResponse) => answer(response));

let directory: string;
let store: FileStore;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-store-'));
  await once(storage.listen(0, '127.0.0.1'), 'listening');
  const { port } = storage.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  store = await openS3Store(directory, { bucket: 'files', endpoint, region: 'us-east-1', prefix: '', credentials });
});
afterAll(async () => {
  await store.close();
  storage.closeAllConnections();
  storage.close();
  await rm(directory, { recursive: true, force: true });
});

const refusal = (status: number, code: string) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);

/** Files of the spool that this process has open, deleted ones among them: they still take space on the disk. */
async function openFilesOfSpool(): Promise<string[]> {
  const paths = (await readdir('/proc/self/fd')).map(fd => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(paths)).filter(path => path.startsWith(directory));
}

test.skipIf(process.platform !== 'linux').each([
  ['is overloaded', refusal(503, 'SlowDown')],
  ['rejects the credentials', refusal(403, 'AccessDenied')],
  ['resets connections', (response: ServerResponse) => response.socket?.destroy()],
] as const)('a file that a storage refuses because it %s is not left open', async (_reason, refuse) => {
  answer = refuse;
  const file = await store.receive(Readable.from([randomBytes(300_000)]), 1_000_000);
  await expect(store.put('1/ab/refused', file)).rejects.toThrow(FileStoreError);
  await file.discard();
  await expect.poll(openFilesOfSpool).toEqual([]);
});

test('a storage that takes requests and does not answer holds up neither readers nor the sweep for a minute', async () => {
  answer = () => undefined;
  await Promise.all([
    expect(store.open('1/ab/hanging', undefined)).rejects.toThrow(FileStoreError),
    expect(store.delete('1/ab/hanging')).rejects.toThrow(FileStoreError),
  ]);
}, 60_000);

test('a storage that stops in the middle of a file fails its reader within seconds', async () => {
  const stopped = Promise.withResolvers<void>();
  answer = response => {
    response.writeHead(200, { 'content-length': '1000000' }).write(randomBytes(1_000));
    response.once('close', stopped.resolve);
  };
  const file = await store.open('1/ab/stopping', undefined);
  const beganAt = performance.now();
  await expect(file?.toArray()).rejects.toThrow('no bytes for 10 s');
  expect(performance.now() - beganAt).toBeLessThan(30_000);
  // Nor is the connection to the storage kept.
  await stopped.promise;
}, 90_000);

test('a file whose reader is slower than the storage arrives whole, and one whose reader leaves is closed', async () => {
  const bytes = randomBytes(3_000_000);
  const closed = Promise.withResolvers<void>();
  answer = response => {
    response.once('close', closed.resolve);
    response.writeHead(200, { 'content-length': String(bytes.length) }).end(bytes);
  };
  const file = await store.open('1/ab/slowly', undefined);
  // Longer than a storage may be silent.
  await new Promise(resolve => setTimeout(resolve, 12_000));
  expect(Buffer.concat((await file?.toArray()) ?? []).equals(bytes)).toBe(true);
  await closed.promise;

  const left = Promise.withResolvers<void>();
  answer = response => {
    response.once('close', left.resolve);
    response.writeHead(200, { 'content-length': '1000000' }).write(randomBytes(1_000));
  };
  const unread = await store.open('1/ab/left', undefined);
  unread?.destroy();
  await left.promise;
}, 90_000);
