import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adoptMedia, claimMedia, mediaOwner } from '../../src/app/media-marker.ts';
import type { Config } from '../../src/config.ts';
import { createDatabase, type Database } from '../../src/database/database.ts';
import { readMediaMark } from '../../src/database/deployment.ts';
import { directoryMarker } from '../../src/platform/files/marker.ts';
import { createLog } from '../../src/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { hasS3, type S3Server, startS3 } from '../support/s3.ts';

const KINDS = [
  ['a directory', 'directory', true],
  ['a bucket', 'bucket', hasS3],
] as const;

let directory: string;
let s3: S3Server | undefined;
let databases: readonly TestDatabase[];
let opened: readonly Database[];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-marker-'));
  if (hasS3) s3 = await startS3();
  databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
  opened = databases.map(({ url }) => createDatabase({ url, poolSize: 3, readers: 1, log: createLog('silent') }));
});
afterAll(async () => {
  await Promise.all(opened.map(database => database.close()));
  await Promise.all(databases.map(database => database.drop()));
  await s3?.stop();
  await rm(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  // Both are cloned from one database.
  for (const database of databases)
    await database.query(
      'update deployment set deployment_id = gen_random_uuid(), media_marked_at = null, bucket_marked_at = null',
    );
});

let last = 0;
describe.each(KINDS)('%s', (_name, kind, isHere) => {
  const onlyHere = test.skipIf(!isHere);
  /** A store that nobody has used. */
  const newStore = (): Config['media'] => {
    last += 1;
    const path = join(directory, String(last));
    return { directory: path, s3: kind === 'bucket' ? bucketBelow(`${last}/`) : undefined };
  };
  const [ours, theirs] = [0, 1].map(index => ({
    claim: (media: Config['media']) => claimMedia({ media }, databaseOf(index)),
    adopt: (media: Config['media']) => adoptMedia(media, databaseOf(index)),
    owner: async (media: Config['media']) => mediaOwner(media, await readMediaMark(databaseOf(index).write, kind)),
  })) as [Deployment, Deployment];

  onlyHere('is marked by the deployment that uses it first, and refused to any other', async () => {
    const media = newStore();
    expect(await ours.owner(media)).toBe('new');
    await ours.claim(media);
    await ours.claim(media);
    expect([await ours.owner(media), await theirs.owner(media)]).toEqual(['ours', 'foreign']);
    await expect(theirs.claim(media)).rejects.toThrow(/files of another deployment.*adopt-media/);
    expect(await ours.owner(media)).toBe('ours');
  });

  onlyHere('is not replaced by an empty one, until that is adopted', async () => {
    await ours.claim(newStore());
    const media = newStore();
    expect(await ours.owner(media)).toBe('missing');
    await expect(ours.claim(media)).rejects.toThrow(/has no \.deployment.*adopt-media/);
    await ours.adopt(media);
    await ours.claim(media);
  });

  onlyHere('is taken over from another deployment by adopting it', async () => {
    const media = newStore();
    await theirs.claim(media);
    await ours.adopt(media);
    expect([await ours.owner(media), await theirs.owner(media)]).toEqual(['ours', 'foreign']);
    await expect(theirs.claim(media)).rejects.toThrow('another deployment');
  });
});

/** The S3 server of the tests has no conditional writes: this one has nothing else. */
async function startConditionalStorage() {
  const objects = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const [path] = (request.url ?? '').split('?');
    const key = path ?? '';
    if (request.method === 'GET') {
      const body = objects.get(key);
      return response.writeHead(body === undefined ? 404 : 200).end(body);
    }
    const body = await text(request);
    if (request.headers['if-none-match'] === '*' && objects.has(key)) return response.writeHead(412).end();
    objects.set(key, body);
    return response.writeHead(200).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    options: {
      ...{ bucket: 'files', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', prefix: '' },
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    },
    stop: () => new Promise(resolve => server.close(resolve)),
  };
}

test.each(['directory', 'bucket'] as const)(
  'of two deployments that start at the same moment, one gets a %s',
  async kind => {
    const storage = await startConditionalStorage();
    const media = {
      directory: join(directory, `both-${kind}`),
      s3: kind === 'bucket' ? storage.options : undefined,
    };
    const claims = await Promise.allSettled([0, 1, 0].map(index => claimMedia({ media }, databaseOf(index))));
    const owners = [];
    for (const index of [0, 1])
      owners.push(await mediaOwner(media, await readMediaMark(databaseOf(index).write, kind)));
    expect([...owners].sort()).toEqual(['foreign', 'ours']);
    const isFirst = owners[0] === 'ours';
    expect(claims.map(({ status }) => status === 'fulfilled')).toEqual([isFirst, !isFirst, isFirst]);
    await storage.stop();
  },
);

interface Deployment {
  claim(media: Config['media']): Promise<void>;
  adopt(media: Config['media']): Promise<void>;
  owner(media: Config['media']): Promise<string>;
}

function databaseOf(index: number): Database {
  const database = opened[index];
  if (!database) throw new Error('No such database.');
  return database;
}

test.skipIf(!hasS3)(
  'a deployment that moves to a bucket marks that, also without the marker of its directory',
  async () => {
    const media = { directory: join(directory, 'moved'), s3: undefined };
    await claimMedia({ media }, databaseOf(0));
    await claimMedia({ media: { ...media, s3: bucketBelow('moved/') } }, databaseOf(0));
    expect(await s3?.has('moved/.deployment')).toBe(true);
  },
);

test.skipIf(!hasS3)('a bucket that does not answer stops the first start, and only warns at later ones', async () => {
  const log = createLog('silent');
  const media = { directory, s3: bucketBelow('away/') };
  const away = { directory, s3: { ...bucketBelow('away/'), bucket: 'no-such-bucket' } };
  const wrong = { accessKeyId: 'test:tester', secretAccessKey: 'wrong' };
  const refused = { directory, s3: { ...bucketBelow('away/'), credentials: wrong } };
  for (const one of [away, refused])
    await expect(claimMedia({ media: one }, databaseOf(0), log)).rejects.toThrow(/cannot be used.*PARLEY_MEDIA_S3/);
  await claimMedia({ media }, databaseOf(0), log);
  await claimMedia({ media: refused }, databaseOf(0), log);
  await expect(claimMedia({ media: refused }, databaseOf(0))).rejects.toThrow('cannot be used');
});

test('a bucket of this deployment that takes requests and does not answer holds up a start for seconds only', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const bucket = { bucket: 'files', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', prefix: '' };
  const media = { directory, s3: { ...bucket, credentials: { accessKeyId: 'a', secretAccessKey: 'b' } } };
  await databaseOf(0).write.updateTable('deployment').set({ bucket_marked_at: '2026-01-01T00:00:00Z' }).execute();
  await claimMedia({ media }, databaseOf(0), createLog('silent'));
  silent.close();
  silent.closeAllConnections();
}, 20_000);

function bucketBelow(prefix: string) {
  if (!s3) throw new Error('S3 is not running.');
  return { ...s3.options, prefix };
}

test('the marker of a directory is complete, and no temporary file is left', async () => {
  const place = join(directory, 'beside');
  const marker = directoryMarker(place);
  expect(await marker.create('one\n')).toBe(true);
  expect(await marker.create('two\n')).toBe(false);
  await marker.replace('three\n');
  expect([await readdir(place), await readFile(join(place, '.deployment'), 'utf8')]).toEqual([
    ['.deployment'],
    'three\n',
  ]);
});

test('the error for an unwritable directory names it', async () => {
  const file = join(directory, 'a-file');
  await writeFile(file, '');
  await expect(claimMedia({ media: { directory: file, s3: undefined } }, databaseOf(0))).rejects.toThrow(
    /cannot be kept in .*a-file.*PARLEY_MEDIA_DIR/,
  );
});
