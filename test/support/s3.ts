import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CreateBucketCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Options } from '../../src/platform/files/s3-store.ts';

const PYTHON = '/usr/bin/python3';
const CREDENTIALS = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };
const BUCKET = 'files';
const PREFIX = 'parley/';

/** Whether OpenStack Swift is installed (Debian: python3-swift). */
export const hasS3 = spawnSync(PYTHON, ['-c', 'import swift.common.middleware.s3api']).status === 0;

export interface S3Server {
  readonly options: S3Options;
  has(key: string): Promise<boolean>;
  /** Files on Swift's disk, without the marker. */
  count(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts Swift with its S3 API and an empty bucket. */
export async function startS3(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-s3-'));
  const server = spawn(PYTHON, [join(import.meta.dirname, 's3-server.py'), directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>(resolve => server.once('exit', () => resolve()));
  const { value: port } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
  if (port === undefined) throw new Error('Swift did not start.');
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials: CREDENTIALS });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const has = (Key: string) =>
    client.send(new HeadObjectCommand({ Bucket: BUCKET, Key })).then(
      () => true,
      () => false,
    );
  return {
    options: { bucket: BUCKET, endpoint, region: 'us-east-1', prefix: PREFIX, credentials: CREDENTIALS },
    has,
    async count() {
      const names = await readdir(join(directory, 'disks'), { recursive: true });
      const isMarked = await has(`${PREFIX}.deployment`);
      return names.filter(name => name.endsWith('.data')).length - (isMarked ? 1 : 0);
    },
    async stop() {
      client.destroy();
      server.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
