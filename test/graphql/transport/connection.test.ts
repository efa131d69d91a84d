import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface Message {
  readonly type: string;
  readonly id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: checked by assertions
  readonly payload?: any;
}

/** A bare socket, to send the exact first message of each client. */
async function open(headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  const messages: Message[] = [];
  socket.on('message', data => void messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>(resolve => socket.once('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const send = (message: object): void => socket.send(JSON.stringify(message));
  const answer = (type: string): Promise<Message> =>
    eventually(() => {
      const index = messages.findIndex(message => message.type === type);
      expect(index, JSON.stringify(messages)).not.toBe(-1);
      return messages.splice(index, 1)[0] as Message;
    });
  return { socket, messages, closed, send, answer };
}

async function connected(token: string, parameters: object = {}) {
  const one = await open();
  one.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}`, ...parameters } });
  const { payload } = await one.answer('connection_ack');
  return { ...one, ack: payload as { eventCursor: string; expiresAt: string | null } };
}

const createGroup = async (name: string, token = gateway.tenant.token) =>
  dataOf(
    await gateway.graphql(
      'mutation ($n: String!) { createContactGroup(input: { name: $n }) { contactGroup { id } } }',
      { n: name },
      token,
    ),
  );

const GROUPS =
  'subscription ($after: String) { events(filter: { types: [GROUP_CREATED] }, after: $after) { cursor payload } }';

const nameIn = ({ payload }: Message): string => payload.data.events.payload.group.name;

describe('connection_init', () => {
  test.each([
    ['GraphiQL', { headers: { Authorization: 'Bearer TOKEN' } }],
    ['Apollo Client', { authToken: 'ignored', Authorization: 'Bearer TOKEN' }],
    ['the documentation of Apollo Client', { authToken: 'TOKEN' }],
    ['urql', { headers: { authorization: 'TOKEN' } }],
    ['Relay', { token: 'TOKEN' }],
    ['graphql-ws', { AUTHORIZATION: 'bearer TOKEN' }],
    ['a client with a token in its headers', { headers: { Token: 'TOKEN' } }],
  ])('takes the token as %s writes it', async (_client, parameters) => {
    const one = await open();
    one.send({
      type: 'connection_init',
      payload: JSON.parse(JSON.stringify(parameters).replace('TOKEN', gateway.tenant.token)),
    });
    expect((await one.answer('connection_ack')).payload).toEqual({ eventCursor: expect.any(String), expiresAt: null });
    one.socket.terminate();
  });

  test('without a token takes that of the upgrade request', async () => {
    const one = await open({ authorization: `Bearer ${gateway.tenant.token}` });
    one.send({ type: 'connection_init', payload: { authorization: '', headers: { Authorization: 'Bearer ' } } });
    await one.answer('connection_ack');
    one.socket.terminate();
  });

  test.each([
    ['no payload', undefined, 4401],
    ['an empty payload', {}, 4401],
    ['the header of a signed-out page', { Authorization: '' }, 4401],
    ['the header of a signed-out page, as a scheme', { headers: { authorization: 'Bearer ' } }, 4401],
    ['an unknown token', { token: 'ply_nobody' }, 4403],
    ['another scheme', { authorization: 'Basic YTpi' }, 4403],
    ['a token that is not a string', { authorization: 7 }, 4403],
  ])('with %s closes the socket: %j, %i', async (_name, payload, code) => {
    const one = await open();
    one.send({ type: 'connection_init', ...(payload && { payload }) });
    expect(await one.closed).toBe(code);
  });

  test('beyond the rate limit closes with 1013, on which clients try again later', async () => {
    const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 1 });
    await connected(token).then(({ socket }) => socket.terminate());
    const one = await open();
    one.send({ type: 'connection_init', payload: { token } });
    expect(await one.closed).toBe(1013);
  });
});

describe('the acknowledgement', () => {
  test('has a cursor from which a stream misses nothing that happened after it', async () => {
    const { ack, ...one } = await connected(gateway.tenant.token);
    await createGroup('after the acknowledgement');
    one.send({ id: '1', type: 'subscribe', payload: { query: GROUPS, variables: { after: ack.eventCursor } } });
    expect(nameIn(await one.answer('next'))).toBe('after the acknowledgement');
    one.socket.terminate();
  });

  test('has the expiry of the token', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { ack, socket } = await connected(await gateway.addToken(gateway.tenant, { expiresAt }));
    expect(ack.expiresAt).toBe(expiresAt);
    socket.terminate();
  });
});

describe('a stream of a connection with `after`', () => {
  async function cursors(): Promise<{ first: string; second: string }> {
    const { ack, ...one } = await connected(gateway.tenant.token);
    one.send({ id: '1', type: 'subscribe', payload: { query: GROUPS, variables: { after: ack.eventCursor } } });
    await createGroup(`first ${crypto.randomUUID()}`);
    const first = await one.answer('next');
    await createGroup(`second ${crypto.randomUUID()}`);
    const second = await one.answer('next');
    one.socket.terminate();
    return { first: first.payload.data.events.cursor, second: second.payload.data.events.cursor };
  }

  test('starts there if it has no cursor itself', async () => {
    const { first, second } = await cursors();
    const one = await connected(gateway.tenant.token, { after: first });
    one.send({ id: '1', type: 'subscribe', payload: { query: GROUPS } });
    expect((await one.answer('next')).payload.data.events.cursor).toBe(second);
    one.socket.terminate();
  });

  test('starts at the later of both', async () => {
    for (const isConnectionLater of [true, false]) {
      const { first, second } = await cursors();
      const [after, own] = isConnectionLater ? [second, first] : [first, second];
      const one = await connected(gateway.tenant.token, { after });
      one.send({ id: '1', type: 'subscribe', payload: { query: GROUPS, variables: { after: own } } });
      const name = `third ${crypto.randomUUID()}`;
      await createGroup(name);
      expect(nameIn(await one.answer('next'))).toBe(name);
      one.socket.terminate();
    }
  });

  test('is refused with the field if the cursor is invalid', async () => {
    const one = await connected(gateway.tenant.token, { after: 'x' });
    one.send({ id: '1', type: 'subscribe', payload: { query: GROUPS } });
    const refused = await one.answer('next');
    expect(refused.payload.errors).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR' } }]);
    one.socket.terminate();
  });

  test('resumes without a gap or a repetition in an unmodified graphql-ws client that reconnects', async () => {
    let after: string | undefined;
    let socket: WebSocket | undefined;
    const client = createClient({
      url: `${gateway.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 5,
      retryWait: async () => undefined,
      connectionParams: () => ({ token: gateway.tenant.token, after }),
      on: {
        connected(raw) {
          socket = raw as WebSocket;
        },
      },
    });
    const names: string[] = [];
    const reading = (async () => {
      for await (const { data } of client.iterate<{ events: { cursor: string; payload: { group: { name: string } } } }>(
        {
          query: GROUPS,
        },
      )) {
        after = data?.events.cursor;
        names.push(data?.events.payload.group.name ?? '');
      }
    })();
    const ask = async (name: string): Promise<void> => {
      await createGroup(name);
      await eventually(() => expect(names).toContain(name));
    };
    await eventually(async () => {
      await createGroup(crypto.randomUUID());
      expect(names).not.toEqual([]);
    });
    await ask('before the cut');
    socket?.terminate();
    await createGroup('during the cut');
    await ask('after the cut');
    const rows = await gateway.database.query<{ name: string }>(
      "select payload->'group'->>'name' as name from events where tenant_id = $1 and type = 'group.created' order by xid, seq",
      [gateway.tenant.id],
    );
    expect(names).toEqual(rows.map(row => row.name).slice(-names.length));
    await client.dispose();
    await reading;
  });
});

describe('a ping', () => {
  test('of a client is answered, with what it sent', async () => {
    const one = await connected(gateway.tenant.token);
    one.send({ type: 'ping' });
    expect(await one.answer('pong')).toEqual({ type: 'pong' });
    one.send({ type: 'ping', payload: { n: 1 } });
    expect((await one.answer('pong')).payload).toEqual({ n: 1 });
    one.socket.terminate();
  });

  test('with a new token keeps the socket and its streams open when the old one ends', async () => {
    const [old, renewed] = [await gateway.addToken(gateway.tenant, {}), await gateway.addToken(gateway.tenant, {})];
    const one = await connected(old);
    one.send({ id: '1', type: 'subscribe', payload: { query: GROUPS } });
    one.send({ type: 'ping', payload: { authorization: `Bearer ${renewed}` } });
    expect((await one.answer('pong')).payload).toEqual({ eventCursor: expect.any(String), expiresAt: null });
    await gateway.graphql('mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { id } } }', {
      id: await idOf(old),
    });
    // Longer than the time after which sockets of an ended token are closed.
    await new Promise(resolve => setTimeout(resolve, 5_000));
    await createGroup('after the old token ended');
    await eventually(() => expect(one.messages.map(message => message.type)).toContain('next'));
    one.send({ id: '2', type: 'subscribe', payload: { query: '{ viewer { scopes } }' } });
    await one.answer('complete');
    // And it ends with the new one.
    await gateway.graphql('mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { id } } }', {
      id: await idOf(renewed),
    });
    expect(await one.closed).toBe(4403);
  });

  test.each([
    ['an unknown token', async () => 'ply_nobody'],
    ['a token of another tenant', async () => (await gateway.addTenant({ channel: false })).token],
    ['a token with fewer scopes', () => gateway.addToken(gateway.tenant, { scopes: ['contacts:read'] })],
  ])('with %s closes the socket with 4403', async (_name, tokenOf) => {
    const one = await connected(gateway.tenant.token);
    one.send({ type: 'ping', payload: { authorization: `Bearer ${await tokenOf()}` } });
    expect(await one.closed).toBe(4403);
  });

  test('never repeats a token, not even before the connection is accepted', async () => {
    const one = await open();
    one.send({ type: 'ping', payload: { authorization: `Bearer ${gateway.tenant.token}` } });
    expect(await one.answer('pong')).toEqual({ type: 'pong' });
    one.socket.terminate();
  });
});

const idOf = async (token: string): Promise<string> =>
  dataOf(await gateway.graphql('{ viewer { token { id } } }', {}, token)).viewer.token.id;
