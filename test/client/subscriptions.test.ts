import { parse } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ClientOptions, createClient, type ParleyClient } from '../../src/client/client.ts';
import { Connection } from '../../src/client/connection.ts';
import { follow } from '../../src/client/stream.ts';
import { TokenStore } from '../../src/client/token.ts';
import { dataOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

interface Message {
  readonly type: string;
  readonly payload?: { readonly authorization?: string; readonly variables?: { readonly after?: string } };
}

let gateway: TestGateway;
let proxy: TcpProxy;
/** What the sockets of the current test sent, by socket. */
let sent: Message[][] = [];
beforeAll(async () => {
  gateway = await startGateway();
  proxy = await startTcpProxy(gateway.url);
});
afterAll(async () => {
  await proxy.close();
  await gateway.stop();
});
beforeEach(() => {
  sent = [];
});

class RecordedSocket extends WebSocket {
  readonly #sent: Message[] = [];

  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols);
    sent.push(this.#sent);
  }

  override send(data: string): void {
    this.#sent.push(JSON.parse(data));
    super.send(data);
  }
}

/** Tells the client that its tokens end in two seconds; the gateway accepts them for longer, so that nothing here is a race. */
class ShortLivedSocket extends RecordedSocket {
  override set onmessage(listener: ((event: MessageEvent) => void) | null) {
    super.onmessage = listener && (event => listener({ data: shorten(event.data) } as MessageEvent));
  }
}
const shorten = (message: string): string =>
  message.replace(/"expiresAt":"[^"]+"/, `"expiresAt":"${new Date(Date.now() + 2_000).toISOString()}"`);

function open(options: Partial<ClientOptions> = {}): ParleyClient {
  const client = createClient({
    url: proxy.url,
    token: gateway.tenant.token,
    webSocketImpl: RecordedSocket,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

const GROUPS = parse(`subscription Groups($after: String) {
  events(after: $after, filter: { types: [GROUP_CREATED] }) { cursor ... on ContactGroupEvent { contactGroup { name } } }
}`);

interface GroupEvent {
  readonly events: { readonly contactGroup: { readonly name: string } };
}

/** Follows the creation of groups. @returns the names so far, and the error with which the stream ended */
function followGroups(client: ParleyClient): { readonly names: string[]; readonly ended: Promise<unknown> } {
  const names: string[] = [];
  const run = async (): Promise<void> => {
    for await (const data of client.subscribe(GROUPS, {})) names.push((data as GroupEvent).events.contactGroup.name);
  };
  return { names, ended: run().catch((error: unknown) => error) };
}

const createGroup = async (name: string): Promise<void> => {
  dataOf(await gateway.mutate('createContactGroup', { name }, 'contactGroup { id }'));
};
const isSubscribed = (count = 1) =>
  eventually(() => expect(sent.flat().filter(({ type }) => type === 'subscribe').length).toBeGreaterThanOrEqual(count));
const newToken = () => gateway.addToken(gateway.tenant, { expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
const tokensIn = (messages: readonly Message[], type: string): unknown[] =>
  messages.filter(one => one.type === type && one.payload).map(({ payload }) => payload?.authorization?.slice(7));

/** Revokes an access token by its text. */
async function revoke(token: string): Promise<void> {
  const { data } = await gateway.graphql('{ viewer { token { id } } }', {}, token);
  dataOf(await gateway.mutate('revokeAccessToken', { id: data.viewer.token.id }));
}

describe('a socket', () => {
  test('gets a new token each time before the last one ends', async () => {
    const tokens: string[] = [];
    const client = open({
      webSocketImpl: ShortLivedSocket,
      token: async () => {
        const token = await newToken();
        tokens.push(token);
        return token;
      },
    });
    const { names } = followGroups(client);
    await eventually(() => expect(tokensIn(sent.flat(), 'ping').length).toBeGreaterThanOrEqual(3));
    await createGroup('seen with the third token');
    await eventually(() => expect(names).toContain('seen with the third token'));
    expect(sent).toHaveLength(1);
    const used = [...tokensIn(sent.flat(), 'connection_init'), ...tokensIn(sent.flat(), 'ping')];
    expect(used).toEqual(tokens.slice(0, used.length));
  });

  test('whose token was revoked reconnects with another one, and misses nothing', async () => {
    const tokens = [await newToken(), await newToken()];
    const [first = ''] = tokens;
    const { names } = followGroups(open({ token: () => tokens.shift() ?? 'none left' }));
    await isSubscribed();
    await revoke(first);
    await createGroup('created while there was no valid token');
    await eventually(() => expect(names).toEqual(['created while there was no valid token']));
    const inits = tokensIn(sent.flat(), 'connection_init');
    expect(inits).toHaveLength(2);
    expect(new Set(inits).size).toBe(2);
  });

  test('with a fixed token that is not accepted ends with UNAUTHORIZED', async () => {
    expect(await followGroups(open({ token: 'ply_ended' })).ended).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(sent).toHaveLength(1);
  });

  test('for which every new token is rejected ends with UNAUTHORIZED after the second', async () => {
    let given = 0;
    const token = (): string => `ply_ended${++given}`;
    expect(await followGroups(open({ token })).ended).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(tokensIn(sent.flat(), 'connection_init')).toEqual(['ply_ended1', 'ply_ended2']);
  });
});

describe('a token that cannot be fetched', () => {
  test('is retried, and the subscription continues', async () => {
    const first = await newToken();
    const outcomes = [first, new TypeError('fetch failed'), new TypeError('fetch failed'), await newToken()];
    const causes: unknown[] = [];
    const client = open({
      token: () => {
        const outcome = outcomes.shift();
        if (typeof outcome !== 'string') throw outcome;
        return outcome;
      },
      onConnection: (_state, cause) => void causes.push(cause),
    });
    const { names } = followGroups(client);
    await isSubscribed();
    await revoke(first);
    await createGroup('created while the backend was away');
    await eventually(() => expect(names).toEqual(['created while the backend was away']));
    expect(causes.filter(cause => cause instanceof TypeError)).toHaveLength(2);
  });

  test('because the session is over ends the subscription with UNAUTHORIZED', async () => {
    const first = await newToken();
    const outcomes = [first];
    const { ended } = followGroups(open({ token: () => outcomes.shift() ?? null }));
    await isSubscribed();
    await revoke(first);
    expect(await ended).toMatchObject({
      code: 'UNAUTHORIZED',
      message: 'The session has ended: `token` returned null. Sign in again.',
    });
  });
});

describe('a stream without an event so far', () => {
  test('resumes from its start after a lost connection', async () => {
    const { names } = followGroups(open());
    await isSubscribed();
    await proxy.close();
    await createGroup('missed');
    await proxy.open();
    await createGroup('seen');
    await eventually(() => expect(names).toEqual(['missed', 'seen']));
  });

  test('starts at the time of its subscription, also on a socket that was opened before', async () => {
    const client = open();
    const other = followGroups(client);
    await isSubscribed();
    await createGroup('from before');
    await eventually(() => expect(other.names).toEqual(['from before']));
    const { names } = followGroups(client);
    await isSubscribed(2);
    await proxy.close();
    await createGroup('after it');
    await proxy.open();
    await eventually(() => expect(names).toEqual(['after it']));
    await eventually(() => expect(other.names).toEqual(['from before', 'after it']));
  });

  test('of a document given as text resumes, too', async () => {
    const text = `subscription ($after: String) {
      events(after: $after, filter: { types: [GROUP_CREATED] }) { cursor ... on ContactGroupEvent { contactGroup { name } } }
    }`;
    const stream = open().subscribe<GroupEvent, object>(text, {});
    const next = stream.next();
    await isSubscribed();
    await proxy.close();
    await createGroup('missed by a text');
    await proxy.open();
    expect((await next).value?.events.contactGroup.name).toBe('missed by a text');
    await stream.return(undefined);
  });
});

test('a silent connection is closed, and the stream resumes', async () => {
  const connection = new Connection({
    url: `${proxy.url}/graphql`,
    tokens: new TokenStore(gateway.tenant.token),
    webSocketImpl: RecordedSocket,
    keepAliveMs: 2_000,
  });
  onTestFinished(() => connection.close());
  const query = `subscription ($after: String) { events(after: $after, filter: { types: [GROUP_CREATED] }) { cursor } }`;
  const stream = follow(connection, { query, variables: {} }, true);
  const next = stream.next();
  await isSubscribed();
  proxy.setSilent(true);
  await createGroup('not heard');
  await eventually(() => expect(sent.length).toBeGreaterThan(1));
  proxy.setSilent(false);
  expect(await next).toMatchObject({ value: { events: { cursor: expect.any(String) } } });
  await stream.return(undefined);
});

test('a client that is closed ends its streams, also while it cannot connect', async () => {
  const client = open();
  const { ended } = followGroups(client);
  await isSubscribed();
  await proxy.close();
  await eventually(() => expect(sent.length).toBeGreaterThan(1));
  await client.close();
  expect(await ended).toBeUndefined();
  await proxy.open();
});
