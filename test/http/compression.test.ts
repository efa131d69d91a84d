import { request } from 'node:http';
import { brotliDecompressSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone, seedOf } from '../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  const seed = seedOf(gateway);
  for (let n = 0; n < 20; n += 1) await seed.contact({ firstName: 'Ana', company: 'x'.repeat(100) });
});
afterAll(() => gateway.stop());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A request without a client's own handling of encodings. */
const call = (method: string, path: string, headers: Record<string, string>, body?: Buffer | string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const authorization = `Bearer ${gateway.tenant.token}`;
    const sent = request(`${gateway.url}${path}`, { method, headers: { authorization, ...headers } }, response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });

const JSON_BODY = { 'content-type': 'application/json' };
const LIST = JSON.stringify({ query: '{ contacts(first: 20) { nodes { id firstName company phone } } }' });

describe('an answer', () => {
  test.each(['/schema.graphql', '/api/v2/openapi.json'])(
    'of a file that is compressed has a weak tag, which names every coding of it: %s',
    async path => {
      const tags = new Set<unknown>();
      for (const coding of ['identity', 'gzip', 'br']) {
        const { headers } = await call('GET', path, { 'accept-encoding': coding });
        expect(headers['content-encoding']).toBe(coding === 'identity' ? undefined : coding);
        tags.add(headers['etag']);
      }
      expect([...tags]).toEqual([expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
    },
  );

  test.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ])('over 1 kB is compressed for a client that accepts %s, in REST and GraphQL', async (encoding, decompress) => {
    for (const [plain, packed] of [
      await Promise.all([
        call('GET', '/api/v2/contacts?per_page=20', {}),
        call('GET', '/api/v2/contacts?per_page=20', { 'accept-encoding': encoding }),
      ]),
      await Promise.all([
        call('POST', '/graphql', JSON_BODY, LIST),
        call('POST', '/graphql', { ...JSON_BODY, 'accept-encoding': encoding }, LIST),
      ]),
    ]) {
      expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
      expect(packed.headers).toMatchObject({
        'content-encoding': encoding,
        vary: expect.stringMatching(/accept-encoding/i),
      });
      expect(packed.body.length).toBeLessThan(plain.body.length / 4);
      const [one, other] = [plain.body, decompress(packed.body)].map(body => JSON.parse(body.toString()));
      expect(other.data).toEqual(one.data);
    }
  });

  test.each([
    ['gzip;q=0, *', 'br'],
    ['*, gzip;q=0', 'br'],
    ['x-gzip;q=0, *;q=0.5', 'br'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, br;q=0, *', undefined],
    ['gzip, *;q=0', 'gzip'],
    ['*;q=0', undefined],
    ['*', 'gzip'],
  ])(
    'for Accept-Encoding: %s has the coding %s: the asterisk stands for those that are not named',
    async (accepted, coding) => {
      const { headers } = await call('GET', '/api/v2/contacts?per_page=20', { 'accept-encoding': accepted });
      expect(headers['content-encoding']).toBe(coding);
    },
  );

  test('of less than 1 kB, and a stream of events, are not', async () => {
    const small = await call(
      'POST',
      '/graphql',
      { ...JSON_BODY, 'accept-encoding': 'gzip, br' },
      '{"query":"{ viewer { callsPerMinute } }"}',
    );
    expect([small.status, small.headers['content-encoding']]).toEqual([200, undefined]);
    const controller = new AbortController();
    const stream = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: {
        ...JSON_BODY,
        authorization: `Bearer ${gateway.tenant.token}`,
        accept: 'text/event-stream',
        'accept-encoding': 'gzip, br',
      },
      body: '{"query":"subscription { events { type } }"}',
      signal: controller.signal,
    });
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.headers.get('content-encoding')).toBe('none');
    controller.abort();
  });

  test('has the same ETag compressed and not, and 304 has no body', async () => {
    const { id } = await seedOf(gateway).contact({ description: 'y'.repeat(2_000) });
    const path = `/api/v2/contacts/${id}`;
    const [plain, packed] = [await call('GET', path, {}), await call('GET', path, { 'accept-encoding': 'gzip' })];
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect([packed.headers['etag'], plain.headers['etag']]).toEqual(Array(2).fill(expect.stringMatching(/^W\//)));
    expect(packed.headers['etag']).toBe(plain.headers['etag']);
    const again = await call('GET', path, {
      'accept-encoding': 'gzip',
      'if-none-match': String(plain.headers['etag']),
    });
    expect([again.status, again.body.length, again.headers['content-encoding']]).toEqual([304, 0, undefined]);
  });
});

describe('a request body', () => {
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
  ])('may be compressed with %s, in REST and GraphQL', async (encoding, pack) => {
    const headers = { ...JSON_BODY, 'content-encoding': encoding };
    const contact = await call(
      'POST',
      '/api/v2/contacts',
      headers,
      pack(JSON.stringify({ phone: newPhone(), firstname: 'Zoë' })),
    );
    expect([contact.status, JSON.parse(contact.body.toString()).data.firstname]).toEqual([201, 'Zoë']);
    const answer = await call('POST', '/graphql', headers, pack(LIST));
    expect(JSON.parse(answer.body.toString()).data.contacts.nodes.length).toBeGreaterThan(0);
  });

  test('that does not match its encoding, or has an unknown one, is refused', async () => {
    for (const [encoding, body] of [
      ['gzip', Buffer.from('{}')],
      ['snappy', Buffer.from('{}')],
    ] as const) {
      const answer = await call('POST', '/api/v2/contacts', { ...JSON_BODY, 'content-encoding': encoding }, body);
      expect([answer.status, JSON.parse(answer.body.toString()).error.code]).toEqual([400, 'BAD_REQUEST']);
    }
  });

  test('is limited by its decompressed size', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    const answer = await call('POST', '/api/v2/contacts', { ...JSON_BODY, 'content-encoding': 'gzip' }, bomb);
    expect(answer.status).toBe(413);
  });
});

test('a trailing slash does not change the route', async () => {
  const answers = await Promise.all(['/api/v2/contacts/', '/api/v2/contacts'].map(path => call('GET', path, {})));
  const [one, other] = answers.map(({ body }) => JSON.parse(body.toString()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(one.data).toEqual(other.data);
  expect((await call('POST', '/graphql/', JSON_BODY, LIST)).status).toBe(200);
});
