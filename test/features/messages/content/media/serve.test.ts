import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { parse } from 'content-disposition';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dataOf } from '../../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../../support/gateway.ts';
import { type MediaClient, mediaOf } from './client.ts';
import { JPEG, PDF, PNG, padded } from './files.ts';
import { retainedBytes } from './retained-bytes.ts';

let gateway: TestGateway;
let media: MediaClient;
let nowMs = Date.now();
beforeAll(async () => {
  gateway = await startGateway({ emulator: { clock: { now: () => nowMs } } });
  media = mediaOf(gateway);
});
afterAll(() => gateway.stop());
afterEach(() => gateway.emulator.resetFaults());

const DOCUMENT = Buffer.concat([PDF, randomBytes(200_000)]);
const SHA256 = createHash('sha256').update(DOCUMENT).digest('hex');
const bodyOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());
const errorOf = async (answer: Response): Promise<{ code: string; message: string }> =>
  ((await answer.json()) as { error: { code: string; message: string } }).error;

/** An upload that only the network has, as before its copy is kept. @returns its id */
async function onNetwork(file: Buffer, input?: object): Promise<string> {
  const id = await media.uploaded(file, input);
  await eventually(async () => {
    const forgotten = await gateway.database.query(
      "update media_files set state = 'lost', sha256 = null where id = $1 and state = 'kept' returning id",
      [id],
    );
    expect(forgotten).toHaveLength(1);
  });
  return id;
}

let last = 0;
/** A person sends a file. @returns the message as GraphQL shows it */
async function received(input: object) {
  last += 1;
  const wamid = gateway.emulator.inbound({ from: `+4915220${String(last).padStart(6, '0')}`, ...input } as never);
  return eventually(async () => {
    const { messages } = dataOf(
      await gateway.graphql(
        '{ messages(first: 50) { nodes { databaseId wamid media { kind path url expiresAt isAvailable link mimeType filename size sha256 mediaId } } } }',
      ),
    );
    const message = messages.nodes.find((node: { wamid: string }) => node.wamid === wamid);
    expect(message).toBeDefined();
    return message;
  });
}

describe('an inbound file', () => {
  test('is shown with its message, and served from the network', async () => {
    const message = await received({
      type: 'image',
      caption: 'Look',
      mimeType: 'image/png',
      dataBase64: PNG.toString('base64'),
    });
    expect(message.media).toEqual({
      kind: 'IMAGE',
      path: `/media/${message.databaseId}`,
      url: expect.stringMatching(/^\/media\/signed\/[\w-]+$/),
      expiresAt: expect.any(String),
      isAvailable: true,
      link: null,
      mimeType: 'image/png',
      filename: null,
      // Unknown until the worker has fetched the file.
      size: expect.toBeOneOf([null, PNG.length]),
      sha256: createHash('sha256').update(PNG).digest('hex'),
      mediaId: null,
    });
    const answer = await media.get(message.databaseId);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-disposition': 'attachment',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      etag: `"${message.media.sha256}"`,
    });
    expect((await bodyOf(answer)).equals(PNG)).toBe(true);
  });

  test('keeps its name with any characters', async () => {
    const filename = 'Größe "1";\r\n.pdf';
    const message = await received({
      type: 'document',
      filename,
      mimeType: 'application/pdf',
      dataBase64: PDF.toString('base64'),
    });
    expect(message.media.filename).toBe(filename);
    const answer = await media.get(message.databaseId);
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="Gr??e \\"1\\";??.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%221%22%3B%0D%0A.pdf`,
    );
  });

  test('is served inline only if it cannot contain scripts', async () => {
    const page = await received({
      type: 'document',
      mimeType: 'text/html',
      dataBase64: Buffer.from('<script>').toString('base64'),
    });
    const shown = await media.get(page.databaseId, {}, '?inline');
    expect(shown.headers.get('content-disposition')).toBe('attachment');
    const picture = await received({ type: 'image', mimeType: 'image/png', dataBase64: PNG.toString('base64') });
    expect((await media.get(picture.databaseId, {}, '?inline=1')).headers.get('content-disposition')).toBe('inline');
    const drawing = await received({
      type: 'image',
      mimeType: 'image/svg+xml',
      dataBase64: Buffer.from('<svg/>').toString('base64'),
    });
    expect((await media.get(drawing.databaseId, {}, '?inline')).headers.get('content-disposition')).toBe('attachment');
  });

  test('with an invalid type is served as application/octet-stream', async () => {
    const message = await received({ type: 'document', mimeType: 'not a type', dataBase64: 'AAAA' });
    expect((await media.get(message.databaseId)).headers.get('content-type')).toBe('application/octet-stream');
  });
});

describe('a range of a file', () => {
  test.each([
    ['bytes=0-9', 0, 9],
    ['bytes=100000-', 100_000, DOCUMENT.length - 1],
    ['bytes=-10', DOCUMENT.length - 10, DOCUMENT.length - 1],
  ])('%s', async (range, start, end) => {
    const id = await media.uploaded(DOCUMENT);
    const answer = await media.get(id, { range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(`bytes ${start}-${end}/${DOCUMENT.length}`);
    expect(answer.headers.get('content-length')).toBe(String(end - start + 1));
    expect((await bodyOf(answer)).equals(DOCUMENT.subarray(start, end + 1))).toBe(true);
  });

  test('beyond its end answers 416', async () => {
    const id = await media.uploaded(DOCUMENT);
    const answer = await media.get(id, { range: `bytes=${DOCUMENT.length}-` });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe(`bytes */${DOCUMENT.length}`);
    expect(await answer.text()).toBe('');
  });

  test('of another version than the client has answers the whole file', async () => {
    const id = await media.uploaded(DOCUMENT);
    expect((await media.get(id, { range: 'bytes=0-9', 'if-range': `"${SHA256}"` })).status).toBe(206);
    expect((await media.get(id, { range: 'bytes=0-9', 'if-range': '"another"' })).status).toBe(200);
  });

  test.each(['bytes=a-b', 'bytes=0-1,5-9', 'lines=1-2', 'bytes=-'])(
    'with the malformed header %s returns the whole file',
    async range => {
      const id = await media.uploaded(DOCUMENT);
      expect((await media.get(id, { range })).status).toBe(200);
    },
  );

  test('answers the whole file if the network does not support ranges', async () => {
    const id = await onNetwork(DOCUMENT);
    gateway.emulator.setFaults({ mediaRanges: false });
    const answer = await media.get(id, { range: 'bytes=0-9' });
    expect(answer.status).toBe(200);
    expect((await bodyOf(answer)).length).toBe(DOCUMENT.length);
  });
});

test('a file that the client has cached answers 304, without a call to the network', async () => {
  const id = await media.uploaded(DOCUMENT);
  gateway.emulator.setFaults({ mediaErrorCode: 1 });
  for (const tag of [`"${SHA256}"`, `W/"${SHA256}"`, `"x", "${SHA256}"`, '*']) {
    const answer = await media.get(id, { 'if-none-match': tag });
    expect(answer.status).toBe(304);
    expect(await answer.text()).toBe('');
  }
  gateway.emulator.resetFaults();
  expect((await media.get(id, { 'if-none-match': '"x"' })).status).toBe(200);
});

test('HEAD answers the headers without the body', async () => {
  const { token } = gateway.tenant;
  const id = await media.uploaded(DOCUMENT, { filename: 'a.pdf' });
  const message = await received({ type: 'image', mimeType: 'image/png', dataBase64: PNG.toString('base64') });
  for (const [of, size, type] of [
    [id, DOCUMENT.length, 'application/pdf'],
    [message.databaseId, PNG.length, 'image/png'],
  ]) {
    const answer = await fetch(`${gateway.url}/media/${of}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(size));
    expect(answer.headers.get('content-type')).toBe(type);
    expect(await answer.text()).toBe('');
  }
});

describe('not found, with the same error,', () => {
  test('are files of another tenant, and messages without a file', async () => {
    const other = mediaOf(gateway, (await gateway.addTenant()).token);
    const upload = await media.uploaded(DOCUMENT);
    const inbound = await received({ type: 'image', dataBase64: PNG.toString('base64') });
    const text = await received({ text: 'no file' });
    const place = await media.place();
    const nobodys = await errorOf(await other.get('01890000-0000-7000-8000-000000000000'));
    expect(nobodys.code).toBe('NOT_FOUND');
    for (const id of [upload, inbound.databaseId]) {
      const answer = await other.get(id);
      expect(answer.status).toBe(404);
      expect(await errorOf(answer)).toEqual(nobodys);
    }
    for (const id of [text.databaseId, place, 'nonsense', '%2e%2e%2fx']) expect((await media.get(id)).status).toBe(404);
  });
});

test('a file needs a token with messages:read', async () => {
  const id = await media.uploaded(DOCUMENT);
  const stranger = await media.get(id, { authorization: '' });
  // RFC 9110 §15.5.2: a 401 says how to authenticate.
  expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  const sender = await gateway.addToken(gateway.tenant, { scopes: ['messages:send'] });
  const answer = await media.get(id, { authorization: `Bearer ${sender}` });
  expect(answer.status).toBe(403);
  expect(await errorOf(answer)).toMatchObject({ code: 'INSUFFICIENT_SCOPE', details: { required: ['messages:read'] } });
});

describe('the network', () => {
  test('gets a request for a new URL when the cached one has expired', async () => {
    const id = await onNetwork(DOCUMENT);
    expect((await bodyOf(await media.get(id))).length).toBe(DOCUMENT.length);
    nowMs += 6 * 60_000;
    expect((await bodyOf(await media.get(id))).length).toBe(DOCUMENT.length);
  });

  test('has deleted the file: 404 with that reason', async () => {
    const id = await onNetwork(DOCUMENT);
    const [row] = await gateway.database.query<{ network_media_id: string }>(
      'select network_media_id from media where id = $1',
      [id],
    );
    const [channel] = await gateway.database.query<{ access: string }>("select 'access-1' as access");
    expect(channel).toBeDefined();
    await gateway.database.query('update media set network_media_id = $2 where id = $1', [
      id,
      `${row?.network_media_id}0`,
    ]);
    const answer = await media.get(id);
    expect(answer.status).toBe(404);
    expect((await errorOf(answer)).message).toMatch(/no longer has this file/);
  });

  test('returns URLs that never work: 404', async () => {
    const id = await onNetwork(DOCUMENT);
    gateway.emulator.setFaults({ mediaUrlSeconds: 0 });
    expect((await media.get(id)).status).toBe(404);
  });

  test('is unavailable: 503; an interrupted response is passed on as far as it came', async () => {
    const id = await onNetwork(DOCUMENT);
    gateway.emulator.setFaults({ mediaErrorCode: 131016 });
    expect((await media.get(id)).status).toBe(503);
    gateway.emulator.setFaults({ mediaErrorCode: null, mediaBreaksAfter: 100_000 });
    await expect(media.get(id).then(bodyOf)).rejects.toThrow();
    gateway.emulator.setFaults({ mediaBreaksAfter: null });
    expect((await media.get(id)).status).toBe(200);
  });
});

test('a client that disconnects ends the download, a slow client gets backpressure', async () => {
  const big = padded(PDF, 40 * 1024 * 1024);
  const id = await onNetwork(big, { filename: 'a.pdf' });
  const { token } = gateway.tenant;
  const before = await retainedBytes();
  const answered = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request(`${gateway.url}/media/${id}`, { headers: { authorization: `Bearer ${token}` } }, resolve)
      .on('error', reject)
      .end();
  });
  answered.on('error', () => undefined);
  answered.pause();
  await new Promise(resolve => setTimeout(resolve, 500));
  expect((await retainedBytes()) - before).toBeLessThan(16 * 1024 * 1024);
  answered.destroy();
  const line = await eventually(() => {
    const found = gateway.logs.findLast(entry => entry['route'] === '/media/:id' && entry['method'] === 'GET');
    return found;
  });
  expect(line).toBeDefined();
  // The connections to the network are free again: more downloads than there are of them go through.
  for (let i = 0; i < 40; i += 1) {
    const gone = new AbortController();
    const answer = await fetch(`${gateway.url}/media/${id}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: gone.signal,
    });
    expect(answer.status).toBe(200);
    gone.abort();
  }
  expect((await bodyOf(await media.get(id))).length).toBe(big.length);
});

test('a picture keeps its type and name', async () => {
  const id = await media.uploaded(JPEG, { filename: 'photo.jpeg' });
  const answer = await media.get(id);
  expect(answer.headers.get('content-type')).toBe('image/jpeg');
  expect(parse(answer.headers.get('content-disposition') ?? '')).toEqual({
    type: 'attachment',
    parameters: { filename: 'photo.jpeg' },
  });
});
