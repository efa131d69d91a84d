import fc from 'fast-check';
import { type DocumentNode, Kind, type OperationDefinitionNode, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { schema } from '../../../src/app/schema.ts';
import { LIMITS, measure, pointsOf } from '../../../src/graphql/execution/limits.ts';
import * as documents from '../../../src/rest/wire/documents.generated.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { raw } from '../transport/http.ts';
import { agree, connect, measuredRequest, type Seen } from './measured-request.ts';
import { documentOf, ROOT_FIELDS } from './operations.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const repeat = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');
const groups = (count: number): string =>
  `mutation { ${repeat(count, n => `g${n}: createContactGroup(input: { name: "${crypto.randomUUID()}" }) { contactGroup { id } }`)} }`;

describe('an operation costs', () => {
  const points = (document: DocumentNode, variables: object = {}): number => {
    expect(validate(schema, document)).toEqual([]);
    const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    return pointsOf(
      measure(schema, document, operation as OperationDefinitionNode),
      variables as Record<string, unknown>,
    );
  };
  const send = (n: number) =>
    `m${n}: sendMessage(input: { to: { phone: "+4915112345678" }, content: { text: { body: "x" } } }) { message { id status contact { id } } userErrors { code message path } }`;

  test.each<[string, number, string, object?]>([
    ['who am I', 1, '{ viewer { account { name } scopes } }'],
    ['one object and all that belongs to it', 1, '{ contact(id: 1) { id groups { id name } source { id } } }'],
    [
      'twenty objects by their ids, as twenty calls of REST',
      20,
      `{ ${repeat(20, n => `c${n}: contact(id: ${n}) { id }`)} }`,
    ],
    ['a page of 100', 1, '{ contacts(first: 100) { nodes { id phone } pageInfo { endCursor } } }'],
    [
      'a page of 100 messages with their contacts',
      1,
      'query ($n: Int) { messages(first: $n) { nodes { id text contact { id phone } } } }',
      { n: 100 },
    ],
    [
      'two pages, as two calls of REST',
      2,
      '{ contacts(first: 1) { nodes { id } } messages(first: 1) { nodes { id } } }',
    ],
    [
      'counts of four lists',
      4,
      '{ contacts { totalCount } messages { totalCount } contactGroups { totalCount } contactSources { totalCount } }',
    ],
    ['one send', 1, `mutation { ${send(0)} }`],
    ['ten sends under ten names', 10, `mutation { ${repeat(10, send)} }`],
    [
      'the same in fragments',
      4,
      `mutation { ...A ...A ... on Mutation { ${send(9)} } ${send(8)} } fragment A on Mutation { ${send(7)} }`,
    ],
    [
      'a batch, as its route of REST',
      1,
      'mutation ($c: [ContactInput!]!) { createContacts(input: { contacts: $c }) { results { index contact { id groups { id } } } } }',
    ],
    [
      'a page with more than a page of REST shows',
      2,
      `{ contacts(first: 100) { nodes { id ${repeat(4, n => `g${n}: groups { id }`)} } } }`,
    ],
    ['what every expression of the tenant is tried on', 10, '{ previewBot(text: "x") { silence } viewer { scopes } }'],
    ['a subscription, when it is opened', 1, 'subscription { events { id type payload } }'],
  ])('%s: %i', (_name, expected, query, variables) => {
    expect(points(parse(query), variables)).toBe(expected);
  });

  const FREE = ['viewer', 'eventCursor', 'countries'];
  const DRY_RUN = /^(?:preview|dryRun)/;
  const STATISTICS = ['messageStatistics', 'costReport'];
  const expectedOf = (name: string): number => {
    if (FREE.includes(name)) return 0;
    if (STATISTICS.includes(name)) return 2;
    // A week of messages instead of one.
    if (name === 'previewBotHistory') return 50;
    return DRY_RUN.test(name) && name !== 'previewTemplate' ? 10 : 1;
  };

  test.each(ROOT_FIELDS.map(root => [`${root.operation} ${root.name}`, root] as const))(
    '%s: the documented cost, also in addition to another list',
    (_name, root) => {
      const beside = 'contactGroups { pageInfo { endCursor } }';
      const document = documentOf(root);
      const expected = expectedOf(root.name);
      if (root.operation === 'mutation') expect(points(parse(document))).toBe(1);
      else expect(points(parse(document.replace(/\}$/, `${beside} }`)))).toBe(expected + 1);
    },
  );

  test('one point for every REST operation, also with the largest page, but ten for a preview', () => {
    const operations = Object.values<unknown>(documents).filter(
      (value): value is DocumentNode =>
        typeof value === 'object' &&
        value !== null &&
        'definitions' in value &&
        (value as DocumentNode).definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION),
    );
    expect(operations.length).toBeGreaterThan(20);
    for (const document of operations) {
      const [operation] = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
      const { name, variableDefinitions = [] } = operation as OperationDefinitionNode;
      const largest = Object.fromEntries(variableDefinitions.map(({ variable }) => [variable.name.value, 100]));
      expect(points(document, largest), name?.value).toBe(name?.value.startsWith('Preview') ? 10 : 1);
    }
  });

  test('at least one whole point, and never less for a larger selection', () => {
    const list = (n: number, size: number) => `l${n}: contacts(first: ${size}) { nodes { id groups { id } } }`;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 19 }), fc.integer({ min: 1, max: 100 }), (count, size) => {
        const cost = (times: number): number => points(parse(`{ ${repeat(times, n => list(n, size))} }`));
        expect(Number.isInteger(cost(count))).toBe(true);
        expect(cost(count)).toBeGreaterThanOrEqual(count);
        expect(cost(count + 1)).toBeGreaterThanOrEqual(cost(count));
      }),
      { numRuns: 20 },
    );
  });
});

const tokenOf = (callsPerMinute: number): Promise<string> => gateway.addToken(gateway.tenant, { callsPerMinute });
const ask = (token: string, init: RequestInit & { path?: string }): Promise<Seen> =>
  measuredRequest(gateway.url, token, init);
const post = (token: string, query: string, headers: Record<string, string> = {}): Promise<Seen> =>
  ask(token, { method: 'POST', body: JSON.stringify({ query }), headers });
const get = (token: string, query: string): Promise<Seen> =>
  ask(token, { path: `/graphql?${new URLSearchParams({ query })}`, headers: { accept: 'application/json' } });

describe('extensions.cost agrees with the rate limit headers', () => {
  const page = '{ contacts(first: 100) { nodes { id } } contactGroups { nodes { id } } }';

  test.each<[string, (token: string, query: string) => Promise<Seen>]>([
    ['POST', post],
    [
      'POST with the media type of the specification',
      (token, query) => post(token, query, { accept: 'application/graphql-response+json' }),
    ],
    ['GET', get],
    ['server-sent events', (token, query) => post(token, query, { accept: 'text/event-stream' })],
  ])('by %s', async (_name, send) => {
    const token = await tokenOf(20);
    const seen = [
      await send(token, page),
      await send(token, '{ viewer { scopes } }'),
      await send(token, '{ nothing }'),
      await send(token, '{'),
    ];
    expect(seen.map(({ json }) => [json.extensions.cost.requested, json.extensions.cost.remaining])).toEqual([
      [2, 18],
      [1, 17],
      [1, 16],
      [1, 15],
    ]);
    for (const one of seen) agree(one);
    for (let n = 0; n < 5; n += 1) await send(token, page);
    for (let n = 0; n < 4; n += 1) await send(token, '{ viewer { scopes } }');
    // One is left: of two it takes that one, and gives nothing.
    const refused = await send(token, page);
    expect(refused.json.errors[0].message).toMatch(
      /^The operation costs 2 points; 0 are left\. Try again in \d+ seconds\.$/,
    );
    expect(refused.json.extensions.cost).toMatchObject({ requested: 2, remaining: 0 });
    expect(refused.json).not.toHaveProperty('data');
    agree(refused);
    const spent = await send(token, '{ viewer { scopes } }');
    expect(spent.json.extensions.cost).toMatchObject({ requested: 1, remaining: 0 });
    agree(spent);
  });

  test('also for a replayed idempotency key', async () => {
    const query = `mutation { createContactGroup(input: { name: "${crypto.randomUUID()}", idempotencyKey: "${crypto.randomUUID()}" }) { contactGroup { id } } }`;
    const token = await tokenOf(20);
    await post(token, query);
    const again = await post(token, query);
    expect(again.json.extensions).toMatchObject({ idempotencyReplayed: true, cost: { requested: 1, remaining: 18 } });
  });
});

describe('an operation that costs more than is left', () => {
  const count = async (): Promise<number> =>
    dataOf(await gateway.graphql('{ groups: contactGroups { totalCount } }')).groups.totalCount;

  test('is refused before execution, costs one point, and leaves the rest to cheaper calls', async () => {
    const token = await tokenOf(14);
    dataOf((await post(token, groups(9))).json);
    const before = await count();
    const refused = await post(token, groups(6));
    expect(refused.status).toBe(429);
    expect(refused.json.extensions.cost).toMatchObject({ requested: 6, remaining: 4 });
    agree(refused);
    expect(await count()).toBe(before);
    const cheaper = await post(token, groups(4));
    expect(Object.keys(cheaper.json.data)).toHaveLength(4);
    expect(cheaper.json.extensions.cost).toMatchObject({ requested: 4, remaining: 0 });
  });

  test('costs neither the tenant nor other tokens anything', async () => {
    const [small, other] = [await tokenOf(5), await tokenOf(5)];
    const tenant = async () =>
      /"tenant";r=(\d+)/.exec((await post(other, '{ viewer { scopes } }')).headers.get('ratelimit') ?? '')?.[1];
    await post(small, groups(3));
    const before = Number(await tenant());
    for (let n = 0; n < 5; n += 1) expect((await post(small, groups(4))).status).toBe(429);
    expect(Number(await tenant())).toBe(before - 1);
  });

  test('and more than the limit per minute is QUERY_TOO_COMPLEX: waiting would not help', async () => {
    const token = await tokenOf(5);
    const [old, now] = [
      await post(token, groups(6)),
      await post(token, groups(6), { accept: 'application/graphql-response+json' }),
    ];
    expect([old.status, now.status]).toEqual([200, 400]);
    expect(now.json.errors).toEqual([
      {
        message: 'The operation costs 6 points; the limit is 5 per minute. Select fewer objects or split the query.',
        extensions: { code: 'QUERY_TOO_COMPLEX', details: { limit: 'points', maximum: 5, actual: 6 } },
      },
    ]);
    expect(now.json.extensions.cost).toMatchObject({ requested: 6, remaining: 3 });
    agree(now);
  });

  test('is not executed by concurrent calls beyond the limit', async () => {
    const token = await tokenOf(20);
    const before = await count();
    const statuses = (await Promise.all(Array.from({ length: 12 }, () => post(token, groups(3))))).map(
      ({ status }) => status,
    );
    const done = statuses.filter(status => status === 200).length;
    expect(done).toBeLessThanOrEqual(6);
    expect(done).toBeGreaterThanOrEqual(1);
    expect(await count()).toBe(before + done * 3);
  });
});

describe('an unreadable request gets a GraphQL response and costs one point', () => {
  test.each<[string, number, string, RequestInit]>([
    ['malformed JSON', 400, 'BAD_REQUEST', { body: '{"query":' }],
    ['an array', 400, 'BAD_REQUEST', { body: '[]' }],
    ['no body', 400, 'BAD_REQUEST', {}],
    ['a body of 3 MB', 413, 'PAYLOAD_TOO_LARGE', { body: JSON.stringify({ query: 'x'.repeat(3_000_000) }) }],
    ['XML', 415, 'UNSUPPORTED_MEDIA_TYPE', { body: '<q/>', headers: { 'content-type': 'application/xml' } }],
    ['a syntax error', 200, 'GRAPHQL_PARSE_FAILED', { body: '{"query":"{"}' }],
    ['an unknown field', 200, 'GRAPHQL_VALIDATION_FAILED', { body: '{"query":"{ nothing }"}' }],
    [
      'a bomb',
      200,
      'QUERY_TOO_COMPLEX',
      { body: JSON.stringify({ query: `{ viewer { ${repeat(31, n => `a${n}: scopes`)} } }` }) },
    ],
    ['a subscription where no stream is', 200, 'BAD_REQUEST', { body: '{"query":"subscription { events { id } }"}' }],
    [
      'malformed JSON for a stream',
      400,
      'BAD_REQUEST',
      { body: '{"query":', headers: { accept: 'text/event-stream' } },
    ],
  ])('%s: %i %s', async (_name, status, code, init) => {
    const token = await tokenOf(5);
    const seen = await ask(token, { method: 'POST', ...init });
    expect([seen.status, seen.json.errors.length, seen.json.errors[0].extensions.code], seen.text).toEqual([
      status,
      1,
      code,
    ]);
    expect(Object.keys(seen.json).sort()).toEqual(['errors', 'extensions']);
    expect(seen.json.extensions.cost).toMatchObject({ requested: 1, remaining: 4 });
    agree(seen);
  });

  test.each(['query', 'variables', 'operationName'])('a URL with the parameter %s twice', async name => {
    const token = await tokenOf(5);
    const lists = '{ contacts { totalCount } contactGroups { totalCount } contactSources { totalCount } }';
    const address = `?${new URLSearchParams([
      ['query', lists],
      [name, '{}'],
      [name, '{}'],
    ])}`;
    const answer = await fetch(`${gateway.url}/graphql${address}`, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    });
    const json = (await answer.json()) as Seen['json'];
    expect([answer.status, json.errors?.[0]?.message]).toEqual([400, `The parameter ${name} may be given only once.`]);
    expect(json).not.toHaveProperty('data');
  });

  test('a caller without quota is refused before its body is read', async () => {
    const token = await tokenOf(1);
    await post(token, '{ viewer { scopes } }');
    // A megabyte is announced and never sent.
    const answer = await raw(
      gateway.url,
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).toContain('"code":"RATE_LIMIT_EXCEEDED"');
    expect(answer).toMatch(/"remaining":0/);
  });
});

describe('on a WebSocket', () => {
  test('each operation is charged and reports its cost in its result or error', async () => {
    const token = await tokenOf(8);
    const { socket, ask: say } = await connect(gateway.url, token);
    // The connection itself is a call.
    expect((await say('{ viewer { scopes } }')).payload.extensions.cost).toMatchObject({ requested: 1, remaining: 6 });
    expect((await say('{ nothing }')).payload[0].extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      cost: { requested: 1, remaining: 5 },
    });
    // The same fault again: the error does not repeat the cost of the first one.
    expect((await say('{ nothing }')).payload[0].extensions.cost).toMatchObject({ remaining: 4 });
    const refused = await say(groups(5));
    expect(refused.type).toBe('error');
    expect(refused.payload).toEqual([
      {
        message: expect.stringMatching(/^The operation costs 5 points; 3 are left\. Try again in \d+ seconds\.$/),
        extensions: {
          code: 'RATE_LIMIT_EXCEEDED',
          details: { retry_after: expect.any(Number), limit: 8 },
          cost: { requested: 5, remaining: 3, resetAt: expect.any(String) },
        },
      },
    ]);
    expect(Object.keys((await say(groups(3))).payload.data)).toHaveLength(3);
    expect((await say('{ viewer { scopes } }')).payload[0].extensions).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      cost: { requested: 1, remaining: 0 },
    });
    socket.terminate();
  });

  test('an oversized frame closes the socket and is only logged', async () => {
    const spies = (['error', 'warn', 'log'] as const).map(level => vi.spyOn(console, level));
    const { socket, closed } = await connect(gateway.url, await tokenOf(5));
    socket.send('x'.repeat(200_000));
    expect(await closed).toBe(1009);
    await eventually(() =>
      expect(gateway.logs).toContainEqual(
        expect.objectContaining({ level: 30, msg: 'closed a WebSocket: invalid frame' }),
      ),
    );
    for (const spy of spies) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });
});

test('no operation within the limits costs more than the default quota of a token', () => {
  expect(Math.ceil(LIMITS.cost / 3_000)).toBeLessThanOrEqual(60);
  expect(LIMITS.rootFields).toBeLessThanOrEqual(60);
});
