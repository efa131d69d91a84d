import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDirectoryStore } from '../../../src/platform/files/directory-store.ts';
import { type FileStore, FileStoreError, TooLargeError } from '../../../src/platform/files/file-store.ts';
import { directoryMarker } from '../../../src/platform/files/marker.ts';
import { openS3Store } from '../../../src/platform/files/s3-store.ts';
import { hasS3, type S3Server, startS3 } from '../../support/s3.ts';

let directory: string;
let s3: S3Server | undefined;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-store-'));
  if (hasS3) s3 = await startS3();
});
afterAll(async () => {
  await s3?.stop();
  await rm(directory, { recursive: true, force: true });
});

const optionsOfS3 = () => {
  if (!s3) throw new Error('S3 is not running.');
  return s3.options;
};
const KINDS = [
  ['a directory', () => openDirectoryStore(directory), true],
  ['S3', () => openS3Store(join(directory, 's3'), optionsOfS3()), hasS3],
] as const;

describe.each(KINDS)('%s', (_kind, openStore, isHere) => {
  let store: FileStore;
  beforeAll(async () => {
    if (isHere) store = await openStore();
  });
  afterAll(() => store?.close());
  const onlyHere = test.skipIf(!isHere);
  const bytes = randomBytes(300_000);
  const receive = (content = bytes) =>
    store.receive(Readable.from([content.subarray(0, 70_000), content.subarray(70_000)]), 1_000_000);
  const read = async (key: string, range?: { start: number; end: number }) => {
    const stream = await store.open(key, range);
    return stream && buffer(stream);
  };

  onlyHere('returns what was stored, whole and in parts', async () => {
    const file = await receive();
    expect(file).toMatchObject({ size: bytes.length, sha256: createHash('sha256').update(bytes).digest() });
    await store.put('1/ab/whole', file);
    expect((await read('1/ab/whole'))?.equals(bytes)).toBe(true);
    expect((await read('1/ab/whole', { start: 5, end: 9 }))?.equals(bytes.subarray(5, 10))).toBe(true);
    expect((await read('1/ab/whole', { start: 299_999, end: 299_999 }))?.equals(bytes.subarray(-1))).toBe(true);
    await expect(readdir(join(directory, 'incoming'))).resolves.toEqual([]);
  });

  onlyHere('deletes all files of a folder, and none of another', async () => {
    for (const key of ['77/ab/one', '77/cd/two', '7/ab/one']) await store.put(key, await receive());
    await store.deleteAll('77');
    expect(await read('77/ab/one')).toBeUndefined();
    expect(await read('77/cd/two')).toBeUndefined();
    expect((await read('7/ab/one'))?.equals(bytes)).toBe(true);
    await store.deleteAll('77');
  });

  onlyHere('knows neither what was never stored nor what was deleted, and deletes twice', async () => {
    expect(await read('1/ab/never')).toBeUndefined();
    await store.put('1/ab/deleted', await receive());
    await store.delete('1/ab/deleted');
    await store.delete('1/ab/deleted');
    expect(await read('1/ab/deleted')).toBeUndefined();
  });

  onlyHere('keeps an empty file', async () => {
    await store.put('1/ab/empty', await store.receive(Readable.from([]), 10));
    expect((await read('1/ab/empty'))?.length).toBe(0);
  });

  onlyHere('rejects a file over its limit, and one whose stream fails, and leaves nothing of them', async () => {
    await expect(store.receive(Readable.from([bytes]), 1_000)).rejects.toThrow(TooLargeError);
    const broken = Readable.from(
      (async function* () {
        yield bytes;
        throw new Error('reset');
      })(),
    );
    await expect(store.receive(broken, 1_000_000)).rejects.toThrow('reset');
    await expect(readdir(join(directory, 'incoming'))).resolves.toEqual([]);
  });

  onlyHere('holds little of a large file in memory', async () => {
    const piece = randomBytes(1 << 20);
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const file = await store.receive(
      Readable.from(
        (function* () {
          for (let i = 0; i < 50; i += 1) {
            peak = Math.max(peak, process.memoryUsage().arrayBuffers);
            yield piece;
          }
        })(),
      ),
      100 << 20,
    );
    await store.put('1/ab/large', file);
    expect(peak - before).toBeLessThan(16 << 20);
    expect((await read('1/ab/large', { start: 49 << 20, end: (50 << 20) - 1 }))?.equals(piece)).toBe(true);
    await store.delete('1/ab/large');
  });
});

describe('a directory', () => {
  test('deletes the incomplete files of a killed process after a day', async () => {
    const [old, fresh] = ['old.part', 'fresh.part'].map(name => join(directory, 'incoming', name));
    for (const path of [old, fresh]) await writeFile(path ?? '', 'x');
    const yesterday = Date.now() / 1_000 - 90_000;
    await utimes(old ?? '', yesterday, yesterday);
    const opened = await openDirectoryStore(directory);
    expect(await readdir(join(directory, 'incoming'))).toEqual(['fresh.part']);
    await utimes(fresh ?? '', yesterday, yesterday);
    await opened.deleteAbandoned();
    expect(await readdir(join(directory, 'incoming'))).toEqual([]);
  });

  test('that cannot be written is refused', async () => {
    await writeFile(join(directory, 'a-file'), '');
    await expect(openDirectoryStore(join(directory, 'a-file'))).rejects.toThrow(FileStoreError);
  });

  test.skipIf(process.platform !== 'linux')('below /proc is refused, as its marker is', async () => {
    await expect(openDirectoryStore('/proc/parley/media')).rejects.toThrow(FileStoreError);
    await expect(directoryMarker('/proc/parley/media').create('text')).rejects.toThrow(FileStoreError);
  });
});

describe.skipIf(!hasS3)('S3', () => {
  test('stores below its prefix, and rejects bytes that are not those of the digest', async () => {
    const store = await openS3Store(directory, optionsOfS3());
    const file = await store.receive(Readable.from([Buffer.from('abc')]), 10);
    await expect(store.put('1/ab/changed', { ...file, sha256: Buffer.alloc(32, 1) })).rejects.toThrow(FileStoreError);
    await store.put('1/ab/same', file);
    expect(await s3?.has('parley/1/ab/same')).toBe(true);
    expect(await s3?.has('parley/1/ab/changed')).toBe(false);
    await store.close();
  });

  test('that is unavailable, rejects the credentials, or has lost the bucket is an error of the store', async () => {
    const options = optionsOfS3();
    for (const wrong of [
      { ...options, endpoint: 'http://127.0.0.1:9' },
      { ...options, credentials: { accessKeyId: 'test:tester', secretAccessKey: 'wrong' } },
      { ...options, bucket: 'gone' },
    ]) {
      const store = await openS3Store(directory, wrong);
      await expect(store.open('1/ab/same', undefined)).rejects.toThrow(FileStoreError);
      await expect(store.delete('1/ab/same')).rejects.toThrow(FileStoreError);
      await store.close();
    }
  });
});
