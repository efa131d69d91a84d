import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deleteOldMedia } from '../../../../../src/features/messages/housekeeping.ts';
import { QueueOverload } from '../../../../../src/platform/keyed-semaphore.ts';
import { TIMESTAMP } from '../../../../rest/client.ts';
import { codeOf, dataOf, faultsOf } from '../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../support/gateway.ts';
import { type MediaClient, mediaOf } from './client.ts';
import { DOCX, EXE, JPEG, LATE_DOCX, PDF, PNG, padded, ZIP } from './files.ts';

let gateway: TestGateway;
let media: MediaClient;
beforeAll(async () => {
  gateway = await startGateway();
  media = mediaOf(gateway);
});
afterAll(() => gateway.stop());
afterEach(() => gateway.emulator.resetFaults());

const MB = 1024 * 1024;
const rows = () => gateway.database.query<{ id: string; state: string }>('select * from media');
const stored = async (id: string) => (await rows()).find(row => row.id === id)?.state;

describe('an upload', () => {
  test('is announced, receives its file, and then has its format and size', async () => {
    const { createMediaUpload: place } = dataOf(
      await media.create({ kind: 'IMAGE', filename: 'C:\\fakepath\\photo.jpg' }),
    );
    expect(place).toMatchObject({
      maxBytes: 5 * MB,
      media: { isUploaded: false, path: null, url: null, kind: 'IMAGE', filename: 'photo.jpg' },
    });
    expect(Date.parse(place.expiresAt)).toBeGreaterThan(Date.now() + 59 * 60_000);
    expect(place.uploadUrl).toBe(`/media/${place.media.databaseId}`);
    const answer = await media.put(place.media.databaseId, JPEG);
    const sha256 = createHash('sha256').update(JPEG).digest('hex');
    expect(answer).toMatchObject({
      status: 201,
      body: {
        success: true,
        data: {
          id: place.media.databaseId,
          kind: 'image',
          mime_type: 'image/jpeg',
          filename: 'photo.jpg',
          size: JPEG.length,
          sha256,
          expires_at: expect.stringMatching(TIMESTAMP),
        },
        meta: { timestamp: expect.stringMatching(TIMESTAMP) },
      },
    });
    const { media: shown } = dataOf(
      await gateway.graphql(
        'query ($id: ID!) { media(id: $id) { isUploaded mimeType size sha256 path url expiresAt } }',
        {
          id: place.media.id,
        },
      ),
    );
    expect(shown).toMatchObject({
      isUploaded: true,
      mimeType: 'image/jpeg',
      size: JPEG.length,
      sha256,
      path: place.uploadUrl,
    });
    expect(Date.parse(shown.expiresAt)).toBeGreaterThan(Date.now() + 29 * 24 * 3_600_000);
  });

  test.each([
    ['with its length', PDF],
    [
      'in chunks of unknown length',
      (async function* () {
        yield PDF.subarray(0, 3);
        yield PDF.subarray(3);
      })(),
    ],
  ])('%s comes to the network as it is', async (_what, file) => {
    const id = await media.place({ filename: 'a.pdf' });
    expect((await media.put(id, file)).status).toBe(201);
    const fetched = await media.get(id);
    expect(Buffer.from(await fetched.arrayBuffer()).equals(PDF)).toBe(true);
  });

  test('of a text takes its type from the header if none was announced', async () => {
    const id = await media.place();
    const answer = await media.put(id, Buffer.from('a;b\n1;2\n'), { 'content-type': 'text/csv' });
    expect(answer.body.data).toMatchObject({ mime_type: 'text/csv', kind: 'document', filename: 'document.csv' });
  });

  test('has one file: a second one answers CONFLICT, also concurrently', async () => {
    const id = await media.uploaded(JPEG);
    expect(await media.put(id, PNG)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    const race = await media.place();
    const answers = await Promise.all([media.put(race, JPEG), media.put(race, PNG)]);
    expect(answers.map(answer => answer.status).sort()).toEqual([201, 409]);
  });
});

test('slow uploads of a tenant hold up those of no other: eight at a time are passed on to the network', async () => {
  const { network, uploadSemaphore } = gateway.gateway.resources;
  const passedOn = vi.spyOn(network, 'uploadMedia');
  const leaving = new AbortController();
  async function* stalled() {
    yield padded(PNG, 100_000);
    await once(leaving.signal, 'abort');
    throw new Error('The client leaves.');
  }
  const places = await Promise.all(Array.from({ length: 40 }, () => media.place()));
  const uploads = places.map(id => media.put(id, stalled()).catch(() => undefined));
  try {
    await eventually(() => expect(passedOn).toHaveBeenCalledTimes(8));
    const other = mediaOf(gateway, (await gateway.addTenant()).token);
    expect((await other.put(await other.place(), PNG)).status).toBe(201);
    expect(passedOn).toHaveBeenCalledTimes(9);
    const full = vi.spyOn(uploadSemaphore, 'run').mockRejectedValueOnce(new QueueOverload('The queue is full.'));
    expect(await media.put(await media.place(), PNG)).toMatchObject({
      status: 503,
      body: { error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/Too many files/) } },
    });
    full.mockRestore();
  } finally {
    leaving.abort();
    await Promise.all(uploads);
    passedOn.mockRestore();
  }
});

describe('is rejected, and nothing is stored', () => {
  test.each([
    [
      'a file of another type under a jpg name',
      { filename: 'photo.jpg' },
      PDF,
      /PDF document, but its name ends in .jpg/,
    ],
    ['a program under a jpg name', { filename: 'photo.jpg' }, EXE, /The file is application/],
    ['a file of another kind than was said', { kind: 'VIDEO' }, JPEG, /JPEG image: a video must be MP4 or 3GP/],
    ['an image over 5 MB', {}, padded(JPEG, 5 * MB + 1), /larger than 5 MB/],
    [
      'an archive under the name of a document',
      { filename: 'a.docx' },
      Buffer.concat([ZIP, randomBytes(300_000)]),
      /not a Word document/,
    ],
    ['an empty file', {}, Buffer.alloc(0), /empty/],
  ])('%s', async (_what, input, file, words) => {
    const id = await media.place(input);
    const answer = await media.put(id, file);
    expect(answer).toMatchObject({
      status: 422,
      body: { error: { code: 'VALIDATION_ERROR', details: { file: [expect.stringMatching(words)] } } },
    });
    expect(await stored(id)).toBe('pending');
  });

  test('a file over its limit, as soon as the limit is reached', async () => {
    const id = await media.place();
    let sent = 0;
    async function* endless() {
      yield JPEG;
      for (; sent < 200 * MB; sent += MB) {
        yield Buffer.alloc(MB);
        await new Promise(resolve => setImmediate(resolve));
      }
    }
    const answer = await media.put(id, endless());
    expect(answer).toMatchObject({
      status: 422,
      body: { error: { details: { file: [expect.stringMatching(/5 MB/)] } } },
    });
    expect(sent).toBeLessThan(100 * MB);
  });

  test.each([
    [
      'a text with binary content after its head',
      { filename: 'a.txt' },
      Buffer.concat([Buffer.alloc(500_000, 'a'), EXE]),
    ],
    [
      'an archive whose end shows that it is not a document',
      { filename: 'a.docx' },
      Buffer.concat([ZIP, Buffer.alloc(500_000)]),
    ],
  ])('%s', async (_what, input, file) => {
    const id = await media.place(input);
    expect((await media.put(id, file)).status).toBe(422);
    expect(await stored(id)).toBe('pending');
    // The place is still good for the right file.
    expect(
      (await media.put(id, 'txt' in input ? PDF : input.filename === 'a.txt' ? Buffer.from('a') : LATE_DOCX)).status,
    ).toBe(201);
  });

  test('an interrupted file: the upload to the network is not completed', async () => {
    const id = await media.place({ filename: 'a.pdf' });
    const { port } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `PUT /media/${id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.tenant.token}\r\ncontent-length: 1000000\r\n\r\n`,
    );
    socket.write(padded(PDF, 300_000));
    await new Promise(resolve => setTimeout(resolve, 100));
    socket.destroy();
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(await stored(id)).toBe('pending');
    // As soon as it is known that the rest will not come.
    await eventually(async () => expect((await media.put(id, PDF)).status).toBe(201));
  });

  test('a file refused by the network, with its reason', async () => {
    gateway.emulator.setFaults({ mediaErrorCode: 131053 });
    const id = await media.place();
    expect(await media.put(id, padded(PDF, 200_000))).toMatchObject({
      status: 422,
      body: { error: { code: 'MESSAGE_SEND_FAILED', details: { provider: { code: 131053 } } } },
    });
    expect(await stored(id)).toBe('pending');
  });

  test('an interrupted connection to the network, as retryable', async () => {
    gateway.emulator.setFaults({ mediaBreaksAfter: 100_000 });
    const id = await media.place();
    expect(await media.put(id, padded(PDF, 3 * MB))).toMatchObject({
      status: 503,
      body: { error: { code: 'SERVICE_UNAVAILABLE' } },
    });
    gateway.emulator.setFaults({ mediaBreaksAfter: null });
    expect((await media.put(id, padded(PDF, 3 * MB))).status).toBe(201);
  });
});

describe('access', () => {
  test('needs a token, the scope and the plan’s feature', async () => {
    const id = await media.place();
    expect((await media.put(id, PDF, { authorization: '' })).status).toBe(401);
    const reader = await gateway.addToken(gateway.tenant, { scopes: ['messages:read'] });
    expect(await media.put(id, PDF, { authorization: `Bearer ${reader}` })).toMatchObject({
      status: 403,
      body: {
        error: { code: 'INSUFFICIENT_SCOPE', details: { required: ['messages:send'], granted: ['messages:read'] } },
      },
    });
    expect(await stored(id)).toBe('pending');
  });

  test("another tenant's upload is not found, in the same words as one that does not exist", async () => {
    const other = mediaOf(gateway, (await gateway.addTenant()).token);
    const id = await media.place();
    const uploaded = await media.uploaded(PDF);
    const nobodys = '01890000-0000-7000-8000-000000000000';
    const refusal = async (of: string) => {
      const { status, body } = await other.put(of, PDF);
      return { status, error: body.error };
    };
    expect(await refusal(id)).toEqual(await refusal(nobodys));
    expect(await refusal(uploaded)).toEqual(await refusal(nobodys));
    expect((await refusal('nonsense')).status).toBe(404);
    expect(await stored(id)).toBe('pending');
  });

  test('ends an hour after the announcement', async () => {
    const id = await media.place();
    await gateway.database.query("update media set expires_at = now() - interval '1 second' where id = $1", [id]);
    expect(await media.put(id, PDF)).toMatchObject({ status: 404 });
  });

  test('that is deleted during the transfer, because its hour has ended, says so', async () => {
    const id = await media.place();
    const passedOn = vi.spyOn(gateway.gateway.resources.network, 'uploadMedia');
    const deleted = Promise.withResolvers<void>();
    async function* slow() {
      yield padded(PNG, 100_000);
      await deleted.promise;
      yield Buffer.alloc(10);
    }
    const answer = media.put(id, slow());
    await eventually(() => expect(passedOn).toHaveBeenCalled());
    await gateway.database.query("update media set expires_at = now() - interval '1 second' where id = $1", [id]);
    // The process's own housekeeping may hold a row that ours skips.
    await eventually(async () => {
      await deleteOldMedia(gateway.gateway.resources);
      expect(await stored(id)).toBeUndefined();
    });
    deleted.resolve();
    passedOn.mockRestore();
    expect(await answer).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND', message: expect.stringContaining('hour') } },
    });
  });
});

describe('an announcement is rejected', () => {
  test('with an invalid name or type', async () => {
    expect(faultsOf(await media.create({ filename: 'x'.repeat(256) }))).toHaveProperty('filename');
    expect(faultsOf(await media.create({ filename: '' }))).toHaveProperty('filename');
    expect(faultsOf(await media.create({ mimeType: 'picture' }))).toHaveProperty('mimeType');
  });

  test('without a channel, or with an unknown or paused one', async () => {
    const { token } = await gateway.addTenant({ channel: false });
    expect(codeOf(await media.create({}, token))).toBe('MESSAGING_NOT_CONFIGURED');
    expect(codeOf(await media.create({ channelId: '987654321' }))).toBe('NOT_FOUND');
    const paused = await gateway.addTenant();
    await gateway.database.query("update channels set status = 'paused' where tenant_id = $1", [paused.id]);
    expect(codeOf(await media.create({}, paused.token))).toBe('MESSAGING_NOT_CONFIGURED');
  });

  test('if the plan does not include media', async () => {
    const tenant = await gateway.addTenant();
    await gateway.database.query(
      "with p as (insert into plans (name, calls_per_minute, features) values ('no media', 600, '{}') returning id) update tenants set plan_id = p.id from p where tenant_id = $1",
      [tenant.id],
    );
    expect(codeOf(await media.create({}, await gateway.addToken(tenant, {})))).toBe('FEATURE_NOT_AVAILABLE');
  });
});

test('expired uploads are deleted, others are kept', async () => {
  const [old, young] = [await media.uploaded(DOCX), await media.uploaded(DOCX)];
  await gateway.database.query("update media set expires_at = now() - interval '1 second' where id = $1", [old]);
  await deleteOldMedia(gateway.gateway.resources);
  await eventually(async () => expect(await stored(old)).toBeUndefined());
  expect(await stored(young)).toBe('stored');
});
