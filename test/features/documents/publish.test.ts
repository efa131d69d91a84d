import { createHash } from 'node:crypto';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { cleanDocuments } from '../../../src/features/documents/housekeeping.ts';
import { addStaff } from '../../../src/features/tenancy/staff/add.ts';
import { dataOf, faultsOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
/** A session that executes trusted documents only. */
let session: string;
beforeAll(async () => {
  gateway = await startGateway();
  const { db } = gateway.gateway.resources;
  const { email } = await db.transaction(trx =>
    addStaff(trx, gateway.tenant.id, { name: 'Ana', email: 'ana@example.com' }),
  );
  const created = await gateway.mutate('createStaffSession', { staffMember: { email }, origins: [] }, 'token');
  session = dataOf(created).createStaffSession.token;
});
afterAll(() => gateway.stop());

const idOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

const publish = (documents: readonly string[], token?: string) =>
  gateway.mutate('publishDocuments', { documents }, 'trustedDocuments { id documentId name body lastUsedAt }', token);

async function run(body: object, token = session, headers: Record<string, string> = {}) {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.text();
}

const get = (parameters: Record<string, string>, token = session, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/graphql?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  }).then(answer => answer.text());

const WHO = 'query Who { viewer { staffMember { email } } }';
const EXPECTED = '{"data":{"viewer":{"staffMember":{"email":"ana@example.com"}}}';

describe('publishDocuments', () => {
  test('returns the documents in order, and keeps those that exist', async () => {
    const texts = [WHO, '{ viewer { scopes } }'];
    const first = dataOf(await publish(texts)).publishDocuments.trustedDocuments;
    expect(first).toMatchObject([
      { documentId: idOf(WHO), name: 'Who', body: WHO, lastUsedAt: null },
      { documentId: idOf('{ viewer { scopes } }'), name: '' },
    ]);
    const again = dataOf(await publish([...texts].reverse())).publishDocuments.trustedDocuments;
    expect(again.map(({ id }: { id: string }) => id)).toEqual(first.map(({ id }: { id: string }) => id).reverse());
  });

  test('refuses all if one is invalid, and names the faults of each', async () => {
    const refused = await publish([
      '{ viewer { scopes } } # fine',
      '{ nothing nobody }',
      '{ viewer {',
      'fragment Only on Viewer { scopes }',
    ]);
    expect(faultsOf(refused)).toEqual({
      'documents.1': [expect.stringContaining('nothing'), expect.stringContaining('nobody')],
      'documents.2': [expect.stringContaining('Syntax Error')],
      'documents.3': [expect.any(String)],
    });
    expect(await run({ documentId: idOf('{ viewer { scopes } } # fine') })).toContain('DOCUMENT_NOT_FOUND');
  });

  test.each([
    ['directly', '{ contactGroup { id } }', false],
    ['with an alias', '{ contactGroup { id } errors: userErrors { message } }', true],
    ['in a fragment', '{ ...Errors }', true],
  ])('requires a mutation to select userErrors: %s', async (_name, selection, isAccepted) => {
    const text = `mutation New { createContactGroup(input: { name: "x" }) ${selection} } ${
      selection.includes('...') ? 'fragment Errors on Payload { userErrors { message } }' : ''
    }`;
    const { userErrors } = (await publish([text])).data?.publishDocuments ?? {};
    expect(userErrors).toMatchObject(
      isAccepted ? [] : [{ path: ['documents', '0'], message: expect.stringContaining('userErrors') }],
    );
  });

  test('needs documents:write, and stops at 2,000 of an account', async () => {
    const reader = await gateway.addToken(gateway.tenant, { scopes: ['documents:read'] });
    expect((await publish([WHO], reader)).errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE' } }]);
    const { token } = await gateway.addTenant({ channel: false });
    const texts = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => `query Q${from + index} { viewer { scopes } }`);
    for (const from of [0, 500, 1_000, 1_500]) dataOf(await publish(texts(from, 500), token));
    expect(faultsOf(await publish(texts(2_000, 1), token))).toEqual({ documents: [expect.stringContaining('2000')] });
    dataOf(await publish(texts(0, 500), token));
  });
});

describe('a request with documentId', () => {
  test('executes the document, by POST, GET, SSE and WebSocket, also for a session that may send no text', async () => {
    dataOf(await publish([WHO]));
    expect(await run({ documentId: idOf(WHO) })).toContain(EXPECTED);
    expect(await get({ documentId: idOf(WHO) })).toContain(EXPECTED);
    expect(await run({ documentId: idOf(WHO) }, session, { accept: 'text/event-stream' })).toContain(EXPECTED);
    const client = createClient({
      url: `${gateway.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { token: session },
    });
    const payload = { query: '', documentId: idOf(WHO) };
    expect((await client.iterate(payload).next()).value?.data).toEqual({
      viewer: { staffMember: { email: 'ana@example.com' } },
    });
    await client.dispose();
  });

  test('executes it with variables and an operation name, the first time and compiled', async () => {
    const text =
      'query A($n: Boolean!) { viewer { callsPerMinute @include(if: $n) } } query B { viewer { expiresAt callsPerMinute } }';
    dataOf(await publish([text]));
    const body = { documentId: idOf(text), operationName: 'A', variables: { n: true } };
    for (let use = 0; use < 3; use += 1) expect(await run(body)).toContain('{"viewer":{"callsPerMinute":600}}');
    expect(await run({ ...body, operationName: 'B', variables: {} })).toContain('expiresAt');
  });

  test('is found by the digest of a persisted query too: manifests of Apollo and urql send it that way', async () => {
    dataOf(await publish([WHO]));
    const extensions = { persistedQuery: { version: 1, sha256Hash: idOf(WHO).slice('sha256:'.length) } };
    expect(await run({ extensions })).toContain(EXPECTED);
  });

  test('does not find the document of another account', async () => {
    const { token } = await gateway.addTenant({ channel: false });
    const text = '{ viewer { account { name } } }';
    dataOf(await publish([text], token));
    expect(await run({ documentId: idOf(text) }, token)).toContain('"data"');
    expect(await run({ documentId: idOf(text) })).toContain('DOCUMENT_NOT_FOUND');
    expect(await run({ documentId: idOf(text) }, 'x')).toContain('UNAUTHORIZED');
  });

  test.each([
    ['another algorithm', { documentId: `md5:${'0'.repeat(64)}` }],
    ['a short digest', { documentId: 'sha256:0' }],
    ['a text as well', { documentId: idOf(WHO), query: WHO }],
  ])('is malformed with %s', async (_name, body) => {
    expect(await run(body, gateway.tenant.token)).toContain('BAD_REQUEST');
  });

  test('is checked for scopes like any other', async () => {
    const text = '{ webhookEndpoints { totalCount } }';
    dataOf(await publish([text]));
    expect(await run({ documentId: idOf(text) })).toContain('INSUFFICIENT_SCOPE');
  });
});

test('a session for trusted documents executes no text over any transport', async () => {
  const query = '{ viewer { scopes } }';
  expect(await run({ query })).toContain('DOCUMENT_REQUIRED');
  expect(await run({ query }, session, { accept: 'text/event-stream' })).toContain('DOCUMENT_REQUIRED');
  expect(await get({ query })).toContain('DOCUMENT_REQUIRED');
  expect(await get({ query }, session, { accept: 'text/event-stream' })).toContain('DOCUMENT_REQUIRED');
  const sha256Hash = idOf(query).slice('sha256:'.length);
  await run({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } }, gateway.tenant.token);
  expect(await run({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } })).toContain(
    'DOCUMENT_REQUIRED',
  );
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { token: session },
  });
  await expect(client.iterate({ query }).next()).rejects.toMatchObject([{ extensions: { code: 'DOCUMENT_REQUIRED' } }]);
  await client.dispose();
});

test('trustedDocuments lists them, with their last use', async () => {
  const text = 'query Listed { viewer { scopes } }';
  dataOf(await publish([text]));
  await run({ documentId: idOf(text) });
  const list =
    '{ trustedDocuments(filter: { name: { eq: "Listed" } }) { totalCount nodes { id documentId lastUsedAt } } }';
  const [document] = await eventually(async () => {
    const { nodes } = dataOf(await gateway.graphql(list)).trustedDocuments;
    expect(nodes).toEqual([{ id: expect.any(String), documentId: idOf(text), lastUsedAt: expect.any(String) }]);
    return nodes;
  });
  const one = await gateway.graphql('query ($id: ID!) { trustedDocument(id: $id) { body } }', { id: document.id });
  expect(dataOf(one).trustedDocument).toEqual({ body: text });
});

test('a document that is neither used nor published for 180 days is deleted', async () => {
  const texts = ['unused', 'used', 'published'].map(name => `query ${name} { viewer { scopes } }`);
  dataOf(await publish(texts));
  const { resources } = gateway.gateway;
  const set = (name: string, column: string, days: number) =>
    gateway.database.query(`update trusted_documents set ${column} = now() - $2 * interval '1 day' where name = $1`, [
      name,
      days,
    ]);
  for (const name of ['unused', 'used']) await set(name, 'published_at', 181);
  await set('used', 'last_used_at', 179);
  await set('published', 'last_used_at', 181);
  await cleanDocuments(resources);
  const rows = await gateway.database.query<{ name: string }>(
    "select name from trusted_documents where name in ('unused', 'used', 'published') order by name",
  );
  expect(rows.map(({ name }) => name)).toEqual(['published', 'used']);
});
