import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { NewEvent } from '../../../src/core/events.ts';
import { append } from '../../../src/events/append.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { ask, connect, follow, seen, stream } from './subscriber.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const group = (name: string): NewEvent => ({ type: 'group.created', payload: { group: { id: 1, name } as never } });

async function write(names: readonly string[], tenantId = gateway.tenant.id): Promise<void> {
  const { db, signals } = gateway.gateway.resources;
  await db.transaction(trx => append(trx, tenantId, names.map(group)));
  signals.send('events');
}

async function subscribers(): Promise<number> {
  const text = await fetch(`${gateway.url}/metrics`).then(answer => answer.text());
  return Number(/^parley_\w*subscribers\S* (\d+)$/m.exec(text)?.[1]);
}

/** A bare socket of the protocol, for what a well-behaved client never does. */
async function bare(protocol = 'graphql-transport-ws', path = '/graphql') {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${path}`, protocol);
  const messages: { type: string; id?: string; payload?: unknown }[] = [];
  socket.on('message', data => void messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>(resolve => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve());
    socket.once('error', reject);
  });
  return { socket, messages, closed, send: (message: object) => socket.send(JSON.stringify(message)) };
}

async function initialised(token = gateway.tenant.token) {
  const one = await bare();
  one.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  await eventually(() => expect(one.messages.map(message => message.type)).toContain('connection_ack'));
  return one;
}

const subscribe = (id: string, query = 'subscription { events(filter: { types: [CHANNEL_UPDATED] }) { id } }') => ({
  id,
  type: 'subscribe',
  payload: { query },
});

describe('who may listen', () => {
  test('a socket without a token is closed with 4401, on which clients stop, and with a bad one with 4403, on which they get another', async () => {
    for (const [payload, code] of [
      [undefined, 4401],
      [{}, 4401],
      [{ authorization: 'Bearer nonsense' }, 4403],
      [{ token: `ply_${'0'.repeat(50)}` }, 4403],
    ] as const) {
      const one = await bare();
      one.send({ type: 'connection_init', ...(payload && { payload }) });
      expect(await one.closed, JSON.stringify(payload)).toBe(code);
    }
  });

  test('the token may stand in the parameters as a header, bare, or in the header of the upgrade', async () => {
    const { token } = gateway.tenant;
    for (const payload of [{ authorization: `Bearer ${token}` }, { Authorization: `bearer ${token}` }, { token }]) {
      const one = await bare();
      one.send({ type: 'connection_init', payload });
      await eventually(() => expect(one.messages).toMatchObject([{ type: 'connection_ack' }]));
      one.socket.terminate();
    }
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { authorization: `Bearer ${token}` },
    });
    const first = new Promise<string>(resolve => socket.once('message', data => resolve(String(data))));
    socket.once('open', () => socket.send('{"type":"connection_init"}'));
    expect(JSON.parse(await first)).toMatchObject({ type: 'connection_ack' });
    socket.terminate();
  });

  test('events need the scope of what they are about: naming a forbidden one is refused, and everything means all that may be read', async () => {
    const token = await gateway.addToken(gateway.tenant, { scopes: ['events:read', 'groups:read'] });
    const refused = await follow(gateway.url, token, { types: ['group.*', 'message.sent'] });
    await eventually(() =>
      expect(refused.errors).toMatchObject([
        { extensions: { code: 'INSUFFICIENT_SCOPE', details: { required: ['messages:read'] } } },
      ]),
    );
    const allowed = await follow(gateway.url, token);
    await gateway.graphql(
      'mutation { createContactSource(input: { name: "Not to be seen" }) { contactSource { id } } }',
    );
    await write(['to be seen']);
    await seen(allowed, 1);
    expect(allowed.events.map(event => event.type)).toEqual(['group.created']);
    const blind = await follow(gateway.url, await gateway.addToken(gateway.tenant, { scopes: ['groups:read'] }));
    await eventually(() => expect(blind.errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE' } }]));
    await Promise.all([refused.stop(), allowed.stop(), blind.stop()]);
  });

  test('a tenant sees its own events alone, live and with a cursor of another tenant', async () => {
    const other = await gateway.addTenant({ channel: false });
    const mine = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'] });
    await write(['mine']);
    await write(['theirs'], other.id);
    await seen(mine, 1);
    const [first] = mine.events;
    const theirs = await follow(gateway.url, other.token, { types: ['group.*'], after: first?.cursor });
    await seen(theirs, 1);
    expect(theirs.events.map(event => event.data.group?.name)).toEqual(['theirs']);
    // The id of another tenant's event is the id of none.
    const refused = await follow(gateway.url, other.token, { after: first?.id });
    await eventually(() =>
      expect(refused.errors).toMatchObject([
        { extensions: { code: 'VALIDATION_ERROR', details: { after: [expect.any(String)] } } },
      ]),
    );
    expect(mine.events.map(event => event.data.group?.name)).toEqual(['mine']);
    await Promise.all([mine.stop(), theirs.stop(), refused.stop()]);
  });

  test('types and patterns choose what comes, and an unknown one is refused by name', async () => {
    const chosen = await follow(gateway.url, gateway.tenant.token, { types: ['source.*', 'group.created'] });
    await gateway.graphql('mutation { createContactStatus(input: { name: "Status" }) { contactStatus { id } } }');
    await gateway.graphql('mutation { createContactSource(input: { name: "Source" }) { contactSource { id } } }');
    await write(['group']);
    await seen(chosen, 2);
    expect(chosen.events.map(event => event.type)).toEqual(['source.created', 'group.created']);
    const unknown = await follow(gateway.url, gateway.tenant.token, { filter: { types: ['MESSAGE_EXPLODED'] } });
    await eventually(() => expect(JSON.stringify(unknown.errors)).toContain('MESSAGE_EXPLODED'));
    await Promise.all([chosen.stop(), unknown.stop()]);
  });

  test('a malformed cursor is refused with its field', async () => {
    const tooLarge = Buffer.from('e:99999999999999999999:1').toString('base64url');
    for (const after of ['x', 'e:1:1', tooLarge, crypto.randomUUID()]) {
      const one = await stream(gateway.url, gateway.tenant.token, { after });
      await one.ended;
      expect(one.errors).toMatchObject([
        { extensions: { code: 'VALIDATION_ERROR', details: { after: [expect.any(String)] } } },
      ]);
    }
  });
});

describe('the protocol', () => {
  test('an unknown sub-protocol is not accepted, and a message of no kind closes with 4400', async () => {
    const old = await bare('graphql-ws').catch(() => undefined);
    if (old) expect([4406, 1002]).toContain(await old.closed);
    const nonsense = await initialised();
    nonsense.send({ type: 'nonsense' });
    expect(await nonsense.closed).toBe(4400);
  });

  test('subscribing before the introduction is closed with 4401, and introducing oneself twice with 4429', async () => {
    const early = await bare();
    early.send(subscribe('1'));
    expect(await early.closed).toBe(4401);
    const twice = await initialised();
    twice.send({ type: 'connection_init' });
    expect(await twice.closed).toBe(4429);
  });

  test('an id that is in use is closed with 4409', async () => {
    const one = await initialised();
    one.send(subscribe('1'));
    one.send(subscribe('1'));
    expect(await one.closed).toBe(4409);
  });

  test('a message beyond 128 kB is closed with 1009', async () => {
    const one = await initialised();
    one.send(subscribe('1', `{ viewer { account { subdomain } } } #${'x'.repeat(140_000)}`));
    expect(await one.closed).toBe(1009);
  });

  test('a malformed upgrade, or one to another address, is rejected and harms nobody', async () => {
    const upgrade = (target: string) =>
      new Promise<string>(resolve => {
        const { hostname, port } = new URL(gateway.url);
        const socket = connectTcp(Number(port), hostname, () => {
          socket.write(
            `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
          );
        });
        let text = '';
        socket.on('data', chunk => {
          text += String(chunk);
        });
        socket.on('close', () => resolve(text));
        socket.on('error', () => undefined);
        // Some never read the answer.
        if (target === '/elsewhere?reset') setTimeout(() => socket.resetAndDestroy(), 0);
      });
    expect(await upgrade('/elsewhere')).toMatch(/^HTTP\/1.1 404/);
    for (const target of ['//', 'http://[', '/\\', '/elsewhere?reset']) await upgrade(target);
    expect((await gateway.graphql('{ viewer { account { subdomain } } }')).data.viewer.account.subdomain).toBe(
      gateway.tenant.slug,
    );
  });

  test('queries and mutations go over the socket too, with the same errors', async () => {
    const client = connect(gateway.url, gateway.tenant.token);
    expect(await ask(client, '{ viewer { account { subdomain } } }')).toMatchObject({
      data: { viewer: { account: { subdomain: gateway.tenant.slug } } },
    });
    expect(
      await ask(client, 'mutation { createContactGroup(input: { name: "" }) { userErrors { code path } } }'),
    ).toMatchObject({
      data: { createContactGroup: { userErrors: [{ code: 'REQUIRED', path: ['name'] }] } },
    });
    expect(await ask(client, '{ nothing }')).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
    await client.dispose();
  });
});

describe('what one socket may hold', () => {
  test('a hundred operations are open on one socket and the next is refused', async () => {
    const one = await initialised();
    for (let index = 0; index < 101; index += 1) one.send(subscribe(String(index)));
    await eventually(() =>
      expect(one.messages.filter(message => message.type === 'error')).toMatchObject([
        { payload: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }] },
      ]),
    );
    one.socket.terminate();
    await eventually(async () => expect(await subscribers()).toBe(0));
  });

  test('an operation that was ended makes room, though no event ever came', async () => {
    const one = await initialised();
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 80; index += 1) one.send(subscribe(`${round} ${index}`));
      for (let index = 0; index < 80; index += 1) one.send({ id: `${round} ${index}`, type: 'complete' });
      await eventually(async () => expect(await subscribers()).toBe(0));
    }
    expect(one.messages.filter(message => message.type === 'error')).toEqual([]);
    one.socket.terminate();
  });

  test('a client that is gone leaves nothing behind, over WebSocket and SSE, though no event ever came', async () => {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () => follow(gateway.url, gateway.tenant.token, { types: ['channel.updated'] })),
    );
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => stream(gateway.url, gateway.tenant.token, { types: ['channel.updated'] })),
    );
    await eventually(async () => expect(await subscribers()).toBe(40));
    for (const one of sockets) one.socket().terminate();
    for (const one of streams) one.abort();
    await eventually(async () => expect(await subscribers()).toBe(0));
  });

  test('each event of a subscription shows rows as they are then, not as they were at the first event', async () => {
    const { data } = await gateway.graphql(
      'mutation { createContact(input: { phone: "+14155550777", firstName: "Ana" }) { contact { id } } }',
    );
    const query =
      'subscription { events(filter: { types: [MESSAGE_QUEUED] }) { id cursor type payload ... on MessageEvent { message { contact { firstName } } } } }';
    const live = await follow(gateway.url, gateway.tenant.token, { query });
    const send = () =>
      gateway.graphql(
        'mutation ($to: ID!) { sendMessage(input: { to: { contactId: $to }, content: { text: { body: "Hi" } } }) { message { id } userErrors { code message path } } }',
        { to: data.createContact.contact.id },
      );
    await send();
    await seen(live, 1);
    await gateway.graphql(
      'mutation ($id: ID!) { updateContact(input: { id: $id, firstName: "Bea" }) { contact { id } } }',
      {
        id: data.createContact.contact.id,
      },
    );
    await send();
    await seen(live, 2);
    expect(
      live.events.map(
        event => (event as unknown as { message: { contact: { firstName: string } } }).message.contact.firstName,
      ),
    ).toEqual(['Ana', 'Bea']);
    await live.stop();
  });
});
