import type { ExecutionResult } from 'graphql';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEventStreams } from '../../../src/graphql/transport/event-streams.ts';
import { closable } from '../../../src/platform/closable.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const GROUPS =
  'subscription ($after: String) { events(filter: { types: [GROUP_CREATED] }, after: $after) { cursor payload } }';

const createGroup = async (name: string, token = gateway.tenant.token) =>
  dataOf(
    await gateway.graphql(
      'mutation ($n: String!) { createContactGroup(input: { name: $n }) { contactGroup { id } } }',
      { n: name },
      token,
    ),
  );

const clientOf = (singleConnection: boolean, token = gateway.tenant.token) =>
  createClient({
    url: `${gateway.url}/graphql/stream`,
    singleConnection,
    retryAttempts: 0,
    headers: { authorization: `Bearer ${token}` },
  });

/** One request of the single connection mode. */
const call = (method: string, query = '', headers: Record<string, string> = {}, body?: object) =>
  fetch(`${gateway.url}/graphql/stream${query}`, {
    method,
    headers: {
      authorization: `Bearer ${gateway.tenant.token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });

const reserve = async (): Promise<Record<string, string>> => {
  const answer = await call('PUT');
  expect(answer.status).toBe(201);
  return { 'x-graphql-event-stream-token': await answer.text() };
};

const operation = (operationId: string, query: string) => ({ query, extensions: { operationId } });

async function subscribers(): Promise<number> {
  const text = await fetch(`${gateway.url}/metrics`).then(answer => answer.text());
  return Number(/^parley_\w*subscribers\S* (\d+)$/m.exec(text)?.[1]);
}

describe.each([
  ['one connection for all operations', true],
  ['a connection for each operation', false],
])('graphql-sse with %s', (_name, singleConnection) => {
  test('runs queries and mutations, with errors of their fields', async () => {
    const client = clientOf(singleConnection);
    for await (const result of client.iterate({
      query: '{ viewer { callsPerMinute } contacts(first: 1000) { totalCount } }',
    }))
      expect(result).toMatchObject({ errors: [{ extensions: { code: 'VALIDATION_ERROR' } }] });
    const results = await Promise.all(
      ['Ana', 'Bea'].map(async name => {
        const query = 'mutation ($n: String!) { createContactSource(input: { name: $n }) { contactSource { name } } }';
        return (await client.iterate({ query, variables: { n: `${name} ${singleConnection}` } }).next()).value?.data;
      }),
    );
    expect(results).toEqual(
      ['Ana', 'Bea'].map(name => ({ createContactSource: { contactSource: { name: `${name} ${singleConnection}` } } })),
    );
    client.dispose();
  });

  test('gets the events of several subscriptions, and resumes after a cursor', async () => {
    const client = clientOf(singleConnection);
    const read = async (count: number, name: string, after?: string) => {
      const events: { cursor: string; payload: { group: { name: string } } }[] = [];
      for await (const { data } of client.iterate({ query: GROUPS, variables: { after } })) {
        const event = data?.['events'] as (typeof events)[number];
        if (event.payload.group.name.startsWith(name)) events.push(event);
        if (events.length === count) break;
      }
      return events;
    };
    const name = `Seen ${singleConnection}`;
    const before = await subscribers();
    const reading = [read(2, name), read(2, name)];
    await eventually(async () => expect(await subscribers()).toBe(before + 2));
    await createGroup(`${name} 1`);
    await createGroup(`${name} 2`);
    const [one, other] = await Promise.all(reading);
    expect(one?.map(event => event.payload.group.name)).toEqual([`${name} 1`, `${name} 2`]);
    expect(other).toEqual(one);
    expect(await read(1, name, one?.[0]?.cursor)).toEqual(one?.slice(1));
    client.dispose();
    await eventually(async () => expect(await subscribers()).toBe(before));
  });

  test('is refused without a valid token', async () => {
    const client = clientOf(singleConnection, 'ply_nobody');
    await expect(client.iterate({ query: '{ viewer { scopes } }' }).next()).rejects.toThrow(/401/);
    client.dispose();
  });
});

describe('a reserved stream', () => {
  test('is opened once, by its token in a header or, for EventSource, in the URL without another header', async () => {
    const headers = await reserve();
    const token = headers['x-graphql-event-stream-token'] ?? '';
    const accept = { accept: 'text/event-stream' };
    const first = await fetch(`${gateway.url}/graphql/stream?token=${token}`, { headers: accept });
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect((await call('GET', '', { ...headers, ...accept })).status).toBe(409);
    expect((await call('GET', '?token=nobody', accept)).status).toBe(404);
    await first.body?.cancel();
    // Its token ends with the connection.
    await eventually(async () => expect((await call('GET', '', { ...headers, ...accept })).status).toBe(404));
  });

  test('is not found by another tenant, and takes each operation id once', async () => {
    const headers = await reserve();
    const stranger = await gateway.addTenant({ channel: false });
    const theirs = { ...headers, authorization: `Bearer ${stranger.token}` };
    const query = operation('1', 'subscription { events { id } }');
    expect((await call('POST', '', theirs, query)).status).toBe(404);
    expect((await call('DELETE', '?operationId=1', theirs)).status).toBe(404);
    expect((await call('POST', '', headers, query)).status).toBe(202);
    expect((await call('POST', '', headers, query)).status).toBe(409);
    expect((await call('DELETE', '?operationId=1', headers)).status).toBe(200);
    expect((await call('POST', '', headers, query)).status).toBe(202);
  });

  test('holds a hundred operations', async () => {
    const headers = await reserve();
    const query = 'subscription { events(filter: { types: [CHANNEL_UPDATED] }) { id } }';
    for (let index = 0; index < 100; index += 1)
      expect((await call('POST', '', headers, operation(String(index), query))).status).toBe(202);
    const refused = await call('POST', '', headers, operation('one more', query));
    expect([refused.status, (await refused.json()) as object]).toMatchObject([
      429,
      { errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] },
    ]);
    const opened = await call('GET', '', { ...headers, accept: 'text/event-stream' });
    await opened.body?.cancel();
    await eventually(async () => expect(await subscribers()).toBe(0));
  });

  test('ends an operation that its client ended while it started, also if another one has its id by then', async () => {
    const streams = createEventStreams();
    const reserved = streams.reserve(1, () => () => undefined);
    if (reserved === 'full') throw new Error('A stream was expected.');
    const ended: string[] = [];
    const subscription = (name: string): AsyncGenerator<ExecutionResult> => {
      const end = Promise.withResolvers<void>();
      async function* results(): AsyncGenerator<ExecutionResult> {
        await end.promise;
        yield* [];
      }
      return closable(results(), () => {
        ended.push(name);
        end.resolve();
      });
    };
    const started = Promise.withResolvers<void>();
    const run = (name: string) =>
      streams.run(reserved.token, 1, 'id', () => started.promise.then(() => subscription(name)));
    const first = run('first');
    await streams.complete(reserved.token, 1, 'id');
    const second = run('second');
    started.resolve();
    await Promise.all([first, second]);
    expect(ended).toEqual(['first']);
    expect(await run('third')).toBe('taken');
    streams.close();
    await eventually(async () => expect(ended).toEqual(['first', 'second']));
  });

  test.each([
    ['no operation id', { query: '{ viewer { scopes } }' }],
    ['a fault in the document', operation('1', '{ nothing }')],
    ['no document', { extensions: { operationId: '1' } }],
  ])('answers 400 with the errors for %s', async (_name, body) => {
    const answer = await call('POST', '', await reserve(), body);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { errors: [{ extensions: { code: expect.any(String) } }] },
    ]);
  });

  test('ends when the token that reserved it is revoked', async () => {
    const token = await gateway.addToken(gateway.tenant, {});
    const authorization = { authorization: `Bearer ${token}` };
    const stream = { 'x-graphql-event-stream-token': await (await call('PUT', '', authorization)).text() };
    const opened = await call('GET', '', { ...authorization, ...stream, accept: 'text/event-stream' });
    await call('POST', '', { ...authorization, ...stream }, operation('1', 'subscription { events { id } }'));
    await gateway.database.query(
      'update access_tokens set revoked_at = now() where tenant_id = $1 and hint = right($2, 4)',
      [gateway.tenant.id, token],
    );
    expect(await opened.text()).toMatch(/^:/);
  });
});
