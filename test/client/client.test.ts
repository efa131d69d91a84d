import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'graphql';
import { Network } from 'relay-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient, type ParleyClient, ParleyError, TransportError } from '../../src/client/client.ts';
import { relayNetwork } from '../../src/client/relay.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';

/** What the proxy does to the next requests, first come first served; undefined and afterwards it only forwards. */
type Fault = undefined | 'lose the answer' | { readonly status: number; readonly headers?: Record<string, string> };

let gateway: TestGateway;
let proxy: Server;
let url: string;
let faults: Fault[] = [];
let requests = 0;

beforeAll(async () => {
  gateway = await startGateway();
  proxy = createServer((request, response) => {
    forward(request, response).catch(() => request.destroy());
  });
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise(resolve => proxy.close(resolve));
  await gateway.stop();
});
beforeEach(() => {
  faults = [];
  requests = 0;
});

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  requests += 1;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const fault = faults.shift();
  if (typeof fault === 'object') {
    response.writeHead(fault.status, fault.headers).end('not from the gateway');
    return;
  }
  const { authorization = '', 'content-type': type = '' } = request.headers;
  const answer = await fetch(`${gateway.url}${request.url}`, {
    method: request.method ?? 'POST',
    headers: { 'content-type': type, authorization },
    body: Buffer.concat(chunks),
  });
  const body = await answer.text();
  if (fault === 'lose the answer') request.socket.destroy();
  else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
}

const clientWith = (token: Parameters<typeof createClient>[0]['token'] = gateway.tenant.token): ParleyClient =>
  createClient({ url, token });

const CREATE = parse(
  'mutation Create($input: CreateContactGroupInput!) { createContactGroup(input: $input) { contactGroup { id name } userErrors { code message path } } }',
);
const LIST = parse('query List($name: String!) { contactGroups(filter: { name: { eq: $name } }) { totalCount } }');
const count = async (name: string): Promise<number> => {
  const data = (await clientWith().query(LIST, { name })) as { contactGroups: { totalCount: number } };
  return data.contactGroups.totalCount;
};

describe('a mutation', () => {
  test('whose answer was lost is repeated, and happens once', async () => {
    faults = ['lose the answer', 'lose the answer'];
    const data = await clientWith().mutate(CREATE, { input: { name: 'once' } });
    expect(data).toMatchObject({ createContactGroup: { contactGroup: { name: 'once' }, userErrors: [] } });
    expect(requests).toBe(3);
    expect(await count('once')).toBe(1);
  });

  test('of several in one document is repeated with a key for each of them', async () => {
    const two = parse(`mutation Two($one: CreateContactGroupInput!, $other: CreateContactGroupInput!, $key: String) {
      one: createContactGroup(input: $one) { contactGroup { name } userErrors { code } }
      other: createContactGroup(input: $other) { contactGroup { name } userErrors { code } }
      last: createContactGroup(input: { name: "last of three", idempotencyKey: $key }) { contactGroup { name } userErrors { code } }
    }`);
    faults = ['lose the answer'];
    const variables = { one: { name: 'first of three' }, other: { name: 'second of three' }, key: crypto.randomUUID() };
    expect(await clientWith().mutate(two, variables)).toEqual({
      one: { contactGroup: { name: 'first of three' }, userErrors: [] },
      other: { contactGroup: { name: 'second of three' }, userErrors: [] },
      last: { contactGroup: { name: 'last of three' }, userErrors: [] },
    });
    expect(requests).toBe(2);
  });

  test.each([
    [
      'an input in the document',
      'one: createContactGroup(input: $input) { userErrors { code } } other: createContactGroup(input: { name: "b" }) { userErrors { code } }',
    ],
    [
      'the input of another mutation',
      'one: createContactGroup(input: $input) { userErrors { code } } other: createContactGroup(input: $input) { userErrors { code } }',
    ],
    ['a fragment', '...Both } fragment Both on Mutation { createContactGroup(input: $input) { userErrors { code } }'],
  ])('with %s, which could happen twice, is not repeated', async (_what, fields) => {
    const document = parse(`mutation ($input: CreateContactGroupInput!) { ${fields} }`);
    faults = ['lose the answer'];
    await expect(clientWith().mutate(document, { input: { name: 'x' } })).rejects.toThrow(TransportError);
    expect(requests).toBe(1);
  });

  test('that is refused is neither repeated nor an error', async () => {
    const data = await clientWith().mutate(CREATE, { input: { name: '' } });
    expect(data).toMatchObject({
      createContactGroup: { contactGroup: null, userErrors: [{ code: 'REQUIRED', path: ['name'] }] },
    });
    expect(requests).toBe(1);
  });

  test('must select userErrors', async () => {
    const careless = parse(
      'mutation ($input: CreateContactGroupInput!) { createContactGroup(input: $input) { contactGroup { id } } }',
    );
    await expect(clientWith().mutate(careless, { input: { name: 'x' } })).rejects.toThrow(
      new TypeError('Select userErrors of createContactGroup: a refusal is data, not an error.'),
    );
    expect(requests).toBe(0);
    const text = 'mutation { createContactGroup(input: { name: "x" }) { contactGroup { id } } }';
    for (const document of [text, new String(text)])
      await expect(clientWith().mutate(document, {})).rejects.toThrow(/Select userErrors of createContactGroup/);
    expect(requests).toBe(0);
  });
});

describe('a query', () => {
  test('is repeated while a proxy in front of the gateway is busy, after its Retry-After', async () => {
    faults = [{ status: 502 }, { status: 503, headers: { 'retry-after': '0' } }];
    expect(await count('nobody')).toBe(0);
    expect(requests).toBe(3);
  });

  test('fails with the status after the last attempt', async () => {
    faults = Array.from({ length: 4 }, () => ({ status: 503, headers: { 'retry-after': '0' } }));
    const failure = clientWith().query(LIST, { name: 'x' });
    await expect(failure).rejects.toThrow(TransportError);
    await expect(failure).rejects.toMatchObject({ status: 503 });
    expect(requests).toBe(4);
  });

  test('with an error of the request rejects with its code, once', async () => {
    const token = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read'] });
    const failure = clientWith(token).query(LIST, { name: 'x' });
    await expect(failure).rejects.toThrow(ParleyError);
    await expect(failure).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    expect(requests).toBe(1);
  });
});

test('a call that is aborted while it waits for its next attempt ends at once', async () => {
  faults = [{ status: 503, headers: { 'retry-after': '30' } }];
  const controller = new AbortController();
  const call = clientWith().query(LIST, { name: 'x' }, { signal: controller.signal });
  await eventually(() => expect(requests).toBe(1));
  controller.abort(new Error('The page was left.'));
  await expect(call).rejects.toThrow('The page was left.');
});

describe('an upload', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  const file = new File([PNG], 'dot.png', { type: 'image/png' });
  const isStored = async (id: string): Promise<boolean> => {
    const { data } = await gateway.graphql('query ($id: ID!) { media(id: $id) { isUploaded } }', { id });
    return data.media.isUploaded;
  };

  /** Lets the creation of the upload pass; the faults are those of its file. */
  async function upload(...ofFile: Fault[]): Promise<{ readonly id: string; readonly sentBytes: number[] }> {
    faults = [undefined, ...ofFile];
    const sentBytes: number[] = [];
    const id = await clientWith().upload(file, { onProgress: progress => sentBytes.push(progress.sentBytes) });
    return { id, sentBytes };
  }

  test('whose answer was lost is repeated, and has its file', async () => {
    const { id, sentBytes } = await upload('lose the answer');
    expect(await isStored(id)).toBe(true);
    expect(requests).toBe(3);
    expect(sentBytes).toEqual([PNG.length, PNG.length]);
  });

  test('is repeated while something before the gateway is busy', async () => {
    const { id } = await upload({ status: 502 }, { status: 503, headers: { 'retry-after': '0' } });
    expect(await isStored(id)).toBe(true);
    expect(requests).toBe(4);
  });

  test('that the gateway refuses rejects with its code, once', async () => {
    const failure = clientWith().upload(new Blob([new Uint8Array(100)]), { filename: 'x.bin' });
    await expect(failure).rejects.toMatchObject({ name: 'ParleyError', code: 'VALIDATION_ERROR' });
    expect(requests).toBe(2);
  });

  test('that cannot be sent rejects with a TransportError', async () => {
    const client = createClient({
      url: gateway.url,
      token: gateway.tenant.token,
      retries: 0,
      fetch: (input, init) => (init?.method === 'PUT' ? Promise.reject(new TypeError('lost')) : fetch(input, init)),
    });
    await expect(client.upload(file)).rejects.toThrow(TransportError);
  });
});

describe('a token', () => {
  test('that is rejected is renewed once for all waiting requests', async () => {
    const given: string[] = [];
    const client = clientWith(async () => {
      const token = given.length === 0 ? 'ply_ended' : gateway.tenant.token;
      given.push(token);
      return token;
    });
    await Promise.all(['a', 'b', 'c'].map(name => client.query(LIST, { name })));
    expect(given).toEqual(['ply_ended', gateway.tenant.token]);
  });

  test('that cannot be renewed fails with UNAUTHORIZED', async () => {
    await expect(clientWith('ply_ended').query(LIST, { name: 'x' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});

test('with the ids of published documents a session that is restricted to them reads and subscribes', async () => {
  const LIST_GROUPS = 'query Groups { contactGroups(first: 1) { totalCount } }';
  const FOLLOW = 'subscription Rates($after: String) { eventRates(after: $after) { cursor counts { type count } } }';
  const published = await gateway.mutate(
    'publishDocuments',
    { documents: [LIST_GROUPS, FOLLOW] },
    'trustedDocuments { name documentId }',
  );
  const ids = new Map<string, string>(
    published.data.publishDocuments.trustedDocuments.map((each: { name: string; documentId: string }) => [
      each.name,
      each.documentId,
    ]),
  );
  const created = await gateway.mutate(
    'createAccessToken',
    { name: 'page', scopes: ['GROUPS_READ', 'GROUPS_WRITE', 'EVENTS_READ'], documentsOnly: true },
    'token',
  );
  const { token } = created.data.createAccessToken;
  const client = createClient({ url: gateway.url, token, documentId: name => ids.get(name) });
  for (const document of [parse(LIST_GROUPS), LIST_GROUPS, new String(LIST_GROUPS)])
    expect(await client.query(document, {})).toMatchObject({ contactGroups: {} });
  const { eventCursor } = (await gateway.graphql('{ eventCursor }')).data;
  await gateway.mutate('createContactGroup', { name: 'Told by its id' });
  const stream = client.subscribe(parse(FOLLOW), { after: eventCursor }) as AsyncGenerator<{
    eventRates: { counts: unknown[] };
  }>;
  const { value } = await stream.next();
  expect(value.eventRates.counts).toContainEqual({ type: 'GROUP_CREATED', count: 1 });
  await stream.return(undefined);
  // Relay sends the ids that its compiler wrote, without a text.
  const byId = relayNetwork(createClient({ url: gateway.url, token }));
  const network = Network.create(byId.execute, byId.subscribe);
  const rates = await new Promise((resolve, reject) => {
    const id = ids.get('Rates') ?? '';
    const request = {
      name: 'Rates',
      operationKind: 'subscription',
      text: null,
      id,
      cacheID: id,
      metadata: {},
    } as const;
    const { unsubscribe } = network.execute(request, { after: eventCursor }, {}, null).subscribe({
      next(response: unknown) {
        unsubscribe();
        resolve(response);
      },
      error: reject,
      complete: () => reject(new Error('The stream ended.')),
    });
  });
  expect(rates).toMatchObject({ data: { eventRates: { counts: [{ type: 'GROUP_CREATED', count: 1 }] } } });
  await client.close();
  // The document that is not published is sent as text, which the session may not.
  const other = createClient({ url: gateway.url, token });
  await expect(other.query(parse(LIST_GROUPS), {})).rejects.toMatchObject({ code: 'DOCUMENT_REQUIRED' });
});
