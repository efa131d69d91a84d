import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { read } from './http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_GRAPHIQL: 'true' } });
});
afterAll(() => gateway.stop());

const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/graphql?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${gateway.tenant.token}`, accept: 'application/json', ...headers },
  });

describe('GET', () => {
  test('executes a query, with variables and an operation name', async () => {
    const query = 'query A { viewer { callsPerMinute } } query B($s: String) { contacts(search: $s) { totalCount } }';
    expect((await read(await get({ query, operationName: 'A' }))).json).toEqual({
      data: { viewer: { callsPerMinute: 6_000 } },
    });
    expect((await read(await get({ query, operationName: 'B', variables: '{"s":"nobody"}' }))).json).toEqual({
      data: { contacts: { totalCount: 0 } },
    });
  });

  test('never executes a mutation', async () => {
    const answer = await read(
      await get({ query: 'mutation { createContactGroup(input: { name: "By GET" }) { contactGroup { id } } }' }),
    );
    expect(answer.status).toBe(405);
    expect(dataOf(await gateway.graphql('{ groups: contactGroups { totalCount } }')).groups.totalCount).toBe(0);
  });

  test.each([
    ['no query', {}],
    ['an empty query', { query: '' }],
    ['a syntax error', { query: '{ viewer {' }],
    ['two faults', { query: '{ viewer { nothing } nobody }' }],
    ['variables that are no JSON', { query: '{ viewer { scopes } }', variables: '{' }],
    ['variables that are no object', { query: '{ viewer { scopes } }', variables: '[1]' }],
    ['an unknown operation', { query: '{ viewer { scopes } }', operationName: 'X' }],
    ['a bomb', { query: `{ viewer { ${Array.from({ length: 31 }, (_, n) => `a${n}: scopes`).join(' ')} } }` }],
  ])('%s is refused with a code', async (_name, parameters) => {
    for (const accept of ['application/json', 'application/graphql-response+json', '*/*']) {
      const { status, json, text } = await read(await get(parameters, { accept }));
      expect(status, text).toBeLessThan(500);
      expect(json?.errors?.[0]?.extensions?.code, `${accept}: ${status} ${text}`).toMatch(/^[A-Z_]+$/);
    }
  });

  test('does not open a subscription for a client that accepts no stream', async () => {
    for (const accept of ['application/json', 'application/graphql-response+json'])
      expect((await get({ query: 'subscription { events { id } }' }, { accept })).status).toBe(406);
  });

  test('without a token executes nothing', async () => {
    const headers = { accept: 'application/json', 'graphql-require-preflight': '1' };
    const answer = await read(await fetch(`${gateway.url}/graphql?query=%7Bviewer%7Bscopes%7D%7D`, { headers }));
    expect(answer.json.errors[0].extensions.code).toBe('UNAUTHORIZED');
  });
});

describe('a stream of server-sent events', () => {
  const open = (query: string, headers: Record<string, string> = {}, method = 'POST') =>
    fetch(method === 'POST' ? `${gateway.url}/graphql` : `${gateway.url}/graphql?query=${encodeURIComponent(query)}`, {
      method,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${gateway.tenant.token}`,
        ...headers,
      },
      ...(method === 'POST' && { body: JSON.stringify({ query }) }),
    });

  test.each(['POST', 'GET'])('by %s answers a query as one event and completes', async method => {
    const answer = await open('{ viewer { callsPerMinute } }', {}, method);
    expect(answer.headers.get('content-type')).toMatch('text/event-stream');
    const text = await answer.text();
    expect(text).toMatch(
      /event: next\ndata: \{"data":\{"viewer":\{"callsPerMinute":6000\}\},"extensions":\{"cost":\{"requested":1,[^\n]*\}\}\}\n\nevent: complete/,
    );
  });

  test.each(['POST', 'GET'])('by %s sends the events of a subscription as they occur', async method => {
    const answer = await open(
      'subscription { events(filter: { types: [GROUP_CREATED] }) { type payload } }',
      {},
      method,
    );
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    dataOf(
      await gateway.graphql(
        'mutation ($n: String!) { createContactGroup(input: { name: $n }) { contactGroup { id } } }',
        {
          n: `Seen by ${method}`,
        },
      ),
    );
    let text = '';
    while (!text.includes(`Seen by ${method}`)) text += decoder.decode((await reader.read()).value, { stream: true });
    expect(text).toContain('"type":"GROUP_CREATED"');
    await reader.cancel();
  });

  test('refuses with the same coded errors as other transports', async () => {
    for (const [query, code] of [
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ __schema { queryType { name } } }', undefined],
      ['subscription { events(filter: { types: [NO_TYPE] }) { id } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ contacts(first: 1000) { totalCount } }', 'VALIDATION_ERROR'],
    ] as const) {
      const text = await (await open(query)).text();
      if (code) expect(text).toContain(`"code":"${code}"`);
      else expect(text).toContain('"data"');
    }
    const stranger = await open('subscription { events { id } }', { authorization: 'Bearer x' });
    expect([stranger.status, await stranger.text()]).toEqual([401, expect.stringContaining('UNAUTHORIZED')]);
    const nobody = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { events { id } }' }),
    });
    expect(await nobody.text()).toContain('UNAUTHORIZED');
  });
});

describe('GraphiQL', () => {
  test('loads nothing from other origins', async () => {
    const answer = await fetch(`${gateway.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(answer.headers.get('content-type')).toMatch('text/html');
    const page = await answer.text();
    expect(page).toContain('GraphiQL');
    // Tags of the page itself: tags that its script creates are in the script, which is inline.
    const shell = page.replace(/<(script|style)\b[^>]*>[\s\S]*?<\/\1>/g, tag => tag.slice(0, tag.indexOf('>') + 1));
    expect(shell).not.toMatch(/(?:src|href|action)\s*=\s*["']?(?:https?:)?\/\//i);
    expect(page).not.toMatch(/<script[^>]+src\s*=|<link[^>]+rel=["']?stylesheet/i);
    expect(page).not.toMatch(/unpkg\.com|jsdelivr|googleapis|raw\.githubusercontent/);
    expect(page).not.toContain(gateway.tenant.token);
  });

  test('is served only if enabled', async () => {
    const { config } = gateway.gateway.resources;
    expect(config.graphiql).toEqual({ token: undefined });
    const plain = await startGateway({ role: 'gateway' });
    const page = await (await fetch(`${plain.url}/graphql`, { headers: { accept: 'text/html' } })).text();
    await plain.stop();
    expect(page).not.toMatch(/GraphiQL/i);
  });
});

describe('WebSocket', () => {
  const client = (connectionParams?: Record<string, unknown>, headers: Record<string, string> = {}) =>
    createClient({
      url: gateway.url.replace('http', 'ws').concat('/graphql'),
      webSocketImpl: class extends WebSocket {
        constructor(address: string, protocols: string | string[]) {
          super(address, protocols, { headers });
        }
      },
      retryAttempts: 0,
      ...(connectionParams && { connectionParams }),
    });

  test.each([
    ['as a header is written', { authorization: 'Bearer TOKEN' }, {}],
    ['under a capital letter', { Authorization: 'Bearer TOKEN' }, {}],
    ['bare', { token: 'TOKEN' }, {}],
    ['in the header of the upgrade', undefined, { authorization: 'Bearer TOKEN' }],
  ])('takes the token %s', async (_name, parameters, headers) => {
    const put = (values: object) => JSON.parse(JSON.stringify(values).replace('TOKEN', gateway.tenant.token));
    const socket = client(parameters && put(parameters), put(headers));
    for await (const result of socket.iterate({ query: '{ viewer { callsPerMinute } }' }))
      expect(result.data).toEqual({ viewer: { callsPerMinute: 6_000 } });
    await socket.dispose();
  });

  test.each([
    ['4401', 'no token', undefined],
    ['4403', 'a bad token', { token: 'x' }],
    ['4403', 'a token that is no text', { token: { a: 1 } }],
  ])('closes with %s for %s', async (code, _name, parameters) => {
    const socket = client(parameters);
    await expect(socket.iterate({ query: '{ viewer { scopes } }' }).next()).rejects.toMatchObject({
      code: Number(code),
    });
    await socket.dispose();
  });

  test('reports errors of an operation without closing the socket', async () => {
    const socket = client({ token: gateway.tenant.token });
    const first = async (query: string, variables = {}) =>
      (
        await socket
          .iterate({ query, variables })
          .next()
          .catch((errors: unknown) => ({ value: { errors } }))
      ).value;
    for (const [query, code] of [
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ viewer {', 'GRAPHQL_PARSE_FAILED'],
      [`{ viewer { ${Array.from({ length: 31 }, (_, n) => `a${n}: scopes`).join(' ')} } }`, 'QUERY_TOO_COMPLEX'],
      ['{ contacts(first: 1000) { totalCount } }', 'VALIDATION_ERROR'],
    ] as const) {
      expect(JSON.stringify(await first(query)), query).toContain(code);
    }
    expect(
      JSON.stringify(
        await first('mutation ($n: String!) { createContactGroup(input: { name: $n }) { userErrors { code path } } }', {
          n: '\u0000',
        }),
      ),
    ).toContain('VALIDATION_ERROR');
    expect((await first('{ viewer { callsPerMinute } }'))?.data).toEqual({ viewer: { callsPerMinute: 6_000 } });
    await socket.dispose();
  });

  test('closes a socket that violates the protocol, and no other', async () => {
    for (const nonsense of ['', 'x', '{}', '{"type":"subscribe"}', '[]', '{"type":"connection_init","payload":7}']) {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const code = await new Promise(resolve =>
        socket
          .on('open', () => socket.send(nonsense))
          .on('close', resolve)
          .on('error', () => undefined),
      );
      expect(code, nonsense.slice(0, 50)).toEqual(expect.any(Number));
    }
    dataOf(await gateway.graphql('{ viewer { scopes } }'));
  });
});
