import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namesEtag } from '../../src/http/etag.ts';
import { type Rest, restOf } from '../rest/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

let gateway: TestGateway;
let rest: Rest;
let path: string;

beforeAll(async () => {
  gateway = await startGateway();
  rest = restOf(gateway, await gateway.addTenant({ plan: 'standard' }));
  const { id } = (await rest('POST', '/contacts', { phone: newPhone(), firstname: 'Ana' })).body.data;
  path = `/contacts/${id}`;
});
afterAll(() => gateway.stop());

const etagOf = async (address = path): Promise<string> => (await rest('GET', address)).headers.get('etag') ?? '';
const ask = (tags: string, method = 'GET', address = path) =>
  rest(method, address, undefined, { 'if-none-match': tags });

describe('one resource', () => {
  it('has a weak entity tag that is stable while the data is, and is never cached publicly', async () => {
    const { headers } = await rest('GET', path);
    expect(headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/);
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(await etagOf()).toBe(headers.get('etag'));
  });

  it('is 304 without a body for its entity tag, with the same headers', async () => {
    const etag = await etagOf();
    for (const method of ['GET', 'HEAD']) {
      for (const tags of [etag, etag.replace('W/', ''), `"a, b", ${etag}`, '*']) {
        const { status, headers, text } = await ask(tags, method);
        expect([method, tags, status, text]).toEqual([method, tags, 304, '']);
        expect([headers.get('etag'), headers.get('cache-control')]).toEqual([etag, 'private, no-cache']);
        expect(headers.get('x-request-id')).toBeTruthy();
        expect(headers.get('ratelimit')).toBeTruthy();
        expect(headers.get('content-type')).toBeNull();
      }
    }
  });

  it('is sent again after any change, also of included objects', async () => {
    const before = await etagOf();
    await rest('PATCH', path, { company: 'Silva Flowers' });
    const after = await etagOf();
    expect(after).not.toBe(before);
    expect((await ask(before)).status).toBe(200);

    const group = (await rest('POST', '/groups', { name: 'VIP' })).body.data.id;
    await rest('POST', `/groups/${group}/contacts`, { contact_ids: [path.split('/').at(-1)] });
    expect(await etagOf()).not.toBe(after);
    const shown = await etagOf(`${path}?include=groups&fields=id`);
    await rest('PATCH', `/groups/${group}`, { name: 'Very important' });
    expect((await ask(shown, 'GET', `${path}?include=groups&fields=id`)).status).toBe(200);
  });

  it('has another tag with other fields', async () => {
    const tags = [await etagOf(), await etagOf(`${path}?fields=id`), await etagOf(`${path}?include=groups`)];
    expect(new Set(tags).size).toBe(3);
  });

  it('is an error as usual with any If-None-Match', async () => {
    expect((await ask('*', 'GET', '/contacts/999999')).status).toBe(404);
    const answer = await rest('GET', path, undefined, { 'if-none-match': '*', authorization: 'Bearer x' });
    expect([answer.status, answer.headers.get('etag')]).toEqual([401, null]);
  });
});

describe('a list', () => {
  it('has no tag, and is not cached publicly', async () => {
    const { headers } = await rest('GET', '/contacts');
    expect([headers.get('etag'), headers.get('cache-control')]).toEqual([null, 'private, no-cache']);
    expect((await ask('*', 'GET', '/contacts')).status).toBe(200);
  });
});

describe('a change', () => {
  it('has the tag that GET has then, and is not cached', async () => {
    const { headers } = await rest('PATCH', path, { city: 'Lisbon' });
    expect([headers.get('etag'), headers.get('cache-control')]).toEqual([await etagOf(), null]);
    expect((await rest('PATCH', path, { city: 'Porto' }, { 'if-none-match': '*' })).status).toBe(200);
  });
});

describe('a list of entity tags', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", W/"a"', true],
    [' * ', true],
    ['"b"', false],
    ['a', false],
    ['', false],
    ['"a', false],
    ['W/"A"', false],
    [undefined, false],
  ])('%s names W/"a": %s', (list, names) => expect(namesEtag(list, 'W/"a"')).toBe(names));
});
