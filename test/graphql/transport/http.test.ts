import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Answer, raw, read } from './http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const send = async (init: RequestInit & { path?: string; anonymous?: boolean }): Promise<Answer> => {
  const headers = new Headers(init.headers);
  if (!init.anonymous) headers.set('authorization', `Bearer ${gateway.tenant.token}`);
  return read(await fetch(`${gateway.url}${init.path ?? '/graphql'}`, { ...init, headers }));
};
const post = (body: unknown, headers: Record<string, string> = {}) =>
  send({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('the GraphQL over HTTP audits', () => {
  const audits = serverAudits({
    url: () => `${gateway.url}/graphql`,
    fetchFn: (url: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${gateway.tenant.token}`);
      return fetch(url, { ...init, headers });
    },
  });
  test('are 61', () => expect(audits).toHaveLength(61));

  test.each(audits.map(audit => [`${audit.id} ${audit.name}`, audit] as const))('%s', async (_name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
});

describe('a malformed request is answered with 4xx', () => {
  const json = 'application/json';
  const cases: [string, number, RequestInit & { path?: string }][] = [
    ['malformed JSON', 400, { method: 'POST', headers: { 'content-type': json }, body: '{"query":' }],
    [
      'bytes that are no text',
      400,
      { method: 'POST', headers: { 'content-type': json }, body: new Uint8Array([0xff, 0xfe, 0x00]) },
    ],
    ['an empty body', 400, { method: 'POST', headers: { 'content-type': json }, body: '' }],
    ['no body at all', 400, { method: 'POST', headers: { 'content-type': json } }],
    ['an array', 400, { method: 'POST', headers: { 'content-type': json }, body: '[]' }],
    ['a batch', 400, { method: 'POST', headers: { 'content-type': json }, body: '[{"query":"{viewer{scopes}}"}]' }],
    ['a string', 400, { method: 'POST', headers: { 'content-type': json }, body: '"{viewer{scopes}}"' }],
    ['null', 400, { method: 'POST', headers: { 'content-type': json }, body: 'null' }],
    ['a number', 400, { method: 'POST', headers: { 'content-type': json }, body: '7' }],
    ['no query', 400, { method: 'POST', headers: { 'content-type': json }, body: '{}' }],
    ['a query that is not a string', 400, { method: 'POST', headers: { 'content-type': json }, body: '{"query":{}}' }],
    [
      'variables that are no object',
      400,
      { method: 'POST', headers: { 'content-type': json }, body: '{"query":"{viewer{scopes}}","variables":[1]}' },
    ],
    [
      'an operation name that is no text',
      400,
      { method: 'POST', headers: { 'content-type': json }, body: '{"query":"{viewer{scopes}}","operationName":7}' },
    ],
    [
      'extensions that are no object',
      400,
      { method: 'POST', headers: { 'content-type': json }, body: '{"query":"{viewer{scopes}}","extensions":"x"}' },
    ],
    [
      'a body of 3 MB',
      413,
      {
        method: 'POST',
        headers: { 'content-type': json },
        body: JSON.stringify({ query: `{viewer{scopes}} #${'x'.repeat(3_000_000)}` }),
      },
    ],
    ['text', 415, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{viewer{scopes}}' }],
    [
      'a form',
      415,
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'query=%7Bviewer%7Bscopes%7D%7D',
      },
    ],
    ['XML', 415, { method: 'POST', headers: { 'content-type': 'application/xml' }, body: '<query/>' }],
    ['an unknown route', 404, { path: '/graphql/more' }],
    ['another unknown route', 404, { method: 'POST', path: '/nothing', headers: { 'content-type': json }, body: '{}' }],
    ['an address that cannot be decoded', 400, { path: '/%E0%A4%A' }],
  ];
  test.each(cases)('%s: %i', async (_name, status, init) => {
    const answer = await send(init);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).not.toMatch(/node_modules|at \w+ \(|\/src\//);
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.json.error?.code ?? answer.json.errors?.[0]?.extensions?.code, answer.text).toEqual(
      expect.any(String),
    );
  });

  test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'PROPFIND'])(
    'the method %s is answered, never by 5xx',
    async method => {
      const { status } = await send({
        method,
        ...(['PUT', 'PATCH'].includes(method) && { body: '{}', headers: { 'content-type': 'application/json' } }),
      });
      expect(status).toBeLessThan(500);
      if (method !== 'OPTIONS') expect(status).toBeGreaterThanOrEqual(400);
    },
  );

  test('a content type is case-insensitive and may have a charset', async () => {
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset=UTF-8']) {
      expect((await post({ query: '{ viewer { callsPerMinute } }' }, { 'content-type': type })).json, type).toEqual({
        data: { viewer: { callsPerMinute: 6_000 } },
      });
    }
  });
});

describe('an invalid document', () => {
  const cases: [string, string, object][] = [
    ['GRAPHQL_PARSE_FAILED', 'a syntax error', { query: '{ viewer { ' }],
    ['GRAPHQL_PARSE_FAILED', 'another language', { query: 'select * from contacts' }],
    ['GRAPHQL_VALIDATION_FAILED', 'an unknown field', { query: '{ nothing }' }],
    ['GRAPHQL_VALIDATION_FAILED', 'an object without a selection', { query: '{ viewer }' }],
    [
      'GRAPHQL_VALIDATION_FAILED',
      'a circle of fragments',
      { query: '{ viewer { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }' },
    ],
    [
      'GRAPHQL_VALIDATION_FAILED',
      'a fragment in itself',
      { query: '{ viewer { ...A } } fragment A on Viewer { account { name } ...A }' },
    ],
    [
      'OPERATION_RESOLUTION_FAILURE',
      'an unknown operation',
      { query: 'query A { viewer { scopes } }', operationName: 'B' },
    ],
    [
      'OPERATION_RESOLUTION_FAILURE',
      'several operations and no name',
      { query: 'query A { viewer { scopes } } query B { viewer { scopes } }' },
    ],
    ['BAD_USER_INPUT', 'a missing variable', { query: 'query ($id: ID!) { contact(id: $id) { id } }' }],
    [
      'BAD_USER_INPUT',
      'a variable of another type',
      {
        query: 'query ($first: Int) { contacts(first: $first) { totalCount } }',
        variables: { first: '1; drop table' },
      },
    ],
    [
      'BAD_USER_INPUT',
      'an unknown field of an input',
      {
        query: 'mutation ($i: CreateContactInput!) { createContact(input: $i) { contact { id } } }',
        variables: { i: { phone: '+4915112345678', admin: true } },
      },
    ],
    [
      'BAD_USER_INPUT',
      'an unknown value of an enum',
      {
        query: 'query ($o: [ContactOrder!]) { contacts(orderBy: $o) { totalCount } }',
        variables: { o: [{ field: 'PASSWORD' }] },
      },
    ],
  ];
  test.each(cases)('%s: %s', async (code, _name, body) => {
    for (const [accept, status] of [
      ['application/json', 200],
      ['application/graphql-response+json', 400],
    ] as const) {
      const answer = await post(body, { accept });
      expect([answer.status, answer.json.errors[0].extensions.code], answer.text).toEqual([status, code]);
      expect(answer.json).not.toHaveProperty('data');
      expect(answer.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
    }
  });

  test('gives the same errors after compilation as before', async () => {
    const query =
      'query Compiled($first: Int!, $id: ID = "x") { contacts(first: $first) { nodes { id } } contact(id: $id) { id } }';
    const before = await post({ query, variables: { first: 'many' } });
    for (let use = 0; use < 40; use += 1) await post({ query, variables: { first: 1 } });
    expect((await post({ query, variables: { first: 'many' } })).json).toEqual(before.json);
    expect((await post({ query })).json.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('all errors are reported together, with their locations', async () => {
    const { json } = await post({ query: '{ viewer { nothing } contacts { never } }' });
    expect(json.errors.map((error: { locations: object[] }) => error.locations)).toEqual([
      [{ line: 1, column: 12 }],
      [{ line: 1, column: 33 }],
    ]);
  });
});

test('operationName selects one of several operations', async () => {
  const query = 'query A { viewer { callsPerMinute } } query B { viewer { account { subdomain } } }';
  expect((await post({ query, operationName: 'A' })).json.data).toEqual({ viewer: { callsPerMinute: 6_000 } });
  expect((await post({ query, operationName: 'B' })).json.data).toEqual({
    viewer: { account: { subdomain: gateway.tenant.slug } },
  });
  expect((await post({ query: query.slice(0, 37), operationName: '' })).json.data).toEqual({
    viewer: { callsPerMinute: 6_000 },
  });
});

test('a GET request executes the parameters that it was charged for, wherever its URL begins them', async () => {
  const [charged, other] = ['{ viewer { scopes } }', '{ a: contacts { totalCount } b: contacts { totalCount } }'];
  const path = `/graphql#query=${encodeURIComponent(charged)}&x=?query=${encodeURIComponent(other)}`;
  const headers = ['Host: x', `Authorization: Bearer ${gateway.tenant.token}`, 'Connection: close'];
  const text = await raw(gateway.url, `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  expect(text).toContain('"data":{"viewer":');
  expect(text).toContain('"cost":{"requested":1,');
});

describe('unauthenticated callers', () => {
  test('get UNAUTHORIZED without a valid token, with the request id in the response', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: '{ viewer { scopes } }' });
    for (const authorization of [
      undefined,
      'Bearer',
      'Bearer ',
      'Basic eDp5',
      'Bearer x',
      `Bearer ${gateway.tenant.token}x`,
      `bearer ${gateway.tenant.token} x`,
    ]) {
      const answer = await send({
        method: 'POST',
        anonymous: true,
        headers: { ...headers, ...(authorization && { authorization }) },
        body,
      });
      expect(answer.json.errors[0].extensions.code, authorization).toBe('UNAUTHORIZED');
      expect([200, 401]).toContain(answer.status);
    }
    const lower = await send({
      method: 'POST',
      anonymous: true,
      headers: { ...headers, authorization: `bearer   ${gateway.tenant.token} ` },
      body,
    });
    expect(lower.json.data.viewer.scopes).toEqual(expect.any(Array));
  });

  test('cannot introspect the schema by any transport', async () => {
    for (const query of [
      '{ __schema { types { name } } }',
      '{ __type(name: "Contact") { name } }',
      'query { ...A } fragment A on Query { x: __schema { queryType { name } } }',
    ]) {
      const answer = await send({
        method: 'POST',
        anonymous: true,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      expect(answer.json).toEqual({ errors: [expect.objectContaining({ extensions: { code: 'UNAUTHORIZED' } })] });
      expect((await post({ query })).json.data).toBeDefined();
    }
  });

  test.each([
    [
      'an upgrade whose address is no address',
      'GET // HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ],
    ['an upgrade to nowhere', 'GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    [
      'an upgrade to another protocol',
      'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    ],
    [
      'an upgrade without a key',
      'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n',
    ],
    [
      'a malformed host',
      'GET /graphql?query=%7Bviewer%7Bscopes%7D%7D HTTP/1.1\r\nHost: a b<>/\r\nConnection: close\r\n\r\n',
    ],
    [
      'a host with a path',
      'GET /graphql?query=%7Bviewer%7Bscopes%7D%7D HTTP/1.1\r\nHost: x/y?z#\r\nConnection: close\r\n\r\n',
    ],
    ['an absolute address', 'GET http://elsewhere.example/graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['two slashes', 'GET //graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['no HTTP at all', 'HELO gateway\r\n\r\n'],
  ])('%s is answered with 4xx, and the gateway keeps serving', async (_name, bytes) => {
    const text = await raw(gateway.url, bytes);
    if (text !== '') expect(text).toMatch(/^HTTP\/1\.1 (200|4\d\d) /);
    await raw(gateway.url, bytes, true);
    expect((await post({ query: '{ viewer { callsPerMinute } }' })).json.data).toEqual({
      viewer: { callsPerMinute: 6_000 },
    });
  });
});

test('every response has a request id, found in exactly one log line with status and tenant', async () => {
  const answer = await post({ query: '{ viewer { scopes } }' });
  const requestId = answer.headers.get('x-request-id');
  const lines = gateway.logs.filter(line => line['requestId'] === requestId);
  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'request',
      route: '/graphql',
      method: 'POST',
      status: 200,
      tenantId: gateway.tenant.id,
    }),
  ]);
  const forged = await post({ query: '{ viewer { scopes } }' }, { 'x-request-id': requestId ?? '' });
  expect(forged.headers.get('x-request-id')).not.toBe(requestId);
});

test('no log line contains a token, a variable, a document or the text of a message', async () => {
  const secret = 'the-secret-text-of-a-message';
  await post({
    query: `mutation ($t: String!) { sendMessage(input: { to: { phone: "+4915177770001" }, content: { text: { body: $t } }, contact: { firstName: "${secret}" } }) { message { id } userErrors { code message path } } }`,
    variables: { t: secret },
  });
  await post({ query: `{ contacts(search: "${secret}") { nodes { id } } }` });
  await post({ query: `{ ${secret} }` });
  await post(`{"query": "${secret}`);
  await send({ path: `/graphql?query=${secret}&token=${gateway.tenant.token}` });
  const text = JSON.stringify(gateway.logs);
  expect(gateway.logs.length).toBeGreaterThan(10);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(gateway.tenant.token.slice(4));
});
