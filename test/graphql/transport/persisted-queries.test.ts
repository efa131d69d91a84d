import { createHash } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { read } from './http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

const post = async (body: object, headers: Record<string, string> = {}) =>
  read(
    await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.tenant.token}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }),
  );

const get = async (parameters: Record<string, unknown>, headers: Record<string, string> = {}) => {
  const texts = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return read(
    await fetch(`${gateway.url}/graphql?${new URLSearchParams(texts)}`, {
      headers: { authorization: `Bearer ${gateway.tenant.token}`, accept: 'application/json', ...headers },
    }),
  );
};

describe('automatic persisted queries', () => {
  test('an unknown digest is answered as Apollo Client expects it; with the text it is registered, for POST and GET', async () => {
    const query = 'query Rate($n: Boolean = true) { viewer { callsPerMinute @include(if: $n) } }';
    const extensions = persisted(sha256(query));
    const expected = { data: { viewer: { callsPerMinute: 6_000 } } };
    const unknown = {
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    };
    for (const answer of [await post({ extensions }), await get({ extensions })]) {
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject(unknown);
    }
    expect((await post({ query, extensions })).json).toMatchObject(expected);
    expect((await post({ extensions })).json).toMatchObject(expected);
    expect((await get({ extensions })).json).toMatchObject(expected);
    expect((await get({ extensions, variables: { n: false } })).json).toMatchObject({ data: { viewer: {} } });
  });

  test('by GET an answer that is unchanged is 304 for its entity tag, with its rate limit', async () => {
    const query = 'query Named($name: String!) { contactGroups(filter: { name: { eq: $name } }) { totalCount } }';
    await post({ query, variables: { name: 'x' }, extensions: persisted(sha256(query)) });
    const parameters = (name: string) => ({ extensions: persisted(sha256(query)), variables: { name } });
    const name = crypto.randomUUID();
    const first = await get(parameters(name));
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');

    const again = await get(parameters(name), { 'if-none-match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect(again.headers.get('ratelimit')).toBeTruthy();

    await gateway.mutate('createContactGroup', { name });
    const changed = await get(parameters(name), { 'if-none-match': etag });
    expect([changed.status, changed.json.data]).toEqual([200, { contactGroups: { totalCount: 1 } }]);
    expect(changed.headers.get('etag')).not.toBe(etag);
  });

  test('by GET an answer with an error has no entity tag', async () => {
    const query = '{ viewer { scopes } node(id: "nothing") { id } contacts(first: 101) { totalCount } }';
    const { json, headers } = await get({ query });
    expect(json.errors).toBeDefined();
    expect(headers.get('etag')).toBeNull();
  });

  test('a GET registers too, and never executes a mutation', async () => {
    const query = '{ viewer { account { subdomain } } }';
    await get({ query, extensions: persisted(sha256(query)) });
    expect((await post({ extensions: persisted(sha256(query)) })).json.data.viewer.account.subdomain).toBe('tenant-1');
    const mutation = 'mutation { createContactGroup(input: { name: "By GET" }) { contactGroup { id } } }';
    await post({ query: mutation, extensions: persisted(sha256(mutation)) });
    expect((await get({ extensions: persisted(sha256(mutation)) })).status).toBe(405);
  });

  test('a text that has another digest is refused', async () => {
    const answer = await post({ query: '{ viewer { scopes } }', extensions: persisted(sha256('{ other }')) });
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { errors: [{ message: 'provided sha does not match query', extensions: { code: 'BAD_REQUEST' } }] },
    ]);
  });

  test.each([
    ['another version', { persistedQuery: { version: 2, sha256Hash: sha256('x') } }],
    ['a malformed digest', { persistedQuery: { version: 1, sha256Hash: 'x' } }],
    ['no object', { persistedQuery: 'x' }],
  ])('%s is refused', async (_name, extensions) => {
    expect((await post({ extensions })).status).toBe(400);
  });

  test('an invalid document is not registered', async () => {
    const query = '{ nothing }';
    const extensions = persisted(sha256(query));
    expect((await post({ query, extensions })).json.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    expect((await post({ extensions })).json.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  test('without a token nothing is registered or found', async () => {
    const query = '{ __typename }';
    const extensions = persisted(sha256(query));
    await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, extensions }),
    });
    expect((await post({ extensions })).json.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND');
  });

  test('a digest costs as much as its document', async () => {
    const query = '{ contacts { totalCount } contactGroups { totalCount } contactSources { totalCount } }';
    const extensions = persisted(sha256(query));
    await post({ query, extensions });
    expect((await post({ extensions })).text).toContain('"cost":{"requested":3,');
    expect((await get({ extensions })).text).toContain('"cost":{"requested":3,');
  });

  test('a subscription over a WebSocket may be named by its digest', async () => {
    const query = 'subscription { events(filter: { types: [GROUP_CREATED] }) { type } }';
    const extensions = persisted(sha256(query));
    const client = createClient({
      url: `${gateway.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { token: gateway.tenant.token },
    });
    const first = client.iterate({ query: '', extensions }).next();
    await expect(first).rejects.toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }]);
    // Over HTTP it is not executed, but it is registered.
    await post({ query, extensions });
    const stream = client.iterate({ query: '', extensions });
    const event = stream.next();
    const timer = setInterval(
      () =>
        void gateway.graphql(
          'mutation ($n: String!) { createContactGroup(input: { name: $n }) { contactGroup { id } } }',
          {
            n: crypto.randomUUID(),
          },
        ),
      100,
    );
    onTestFinished(() => clearInterval(timer));
    expect((await event).value?.data).toEqual({ events: { type: 'GROUP_CREATED' } });
    await client.dispose();
  });
});
