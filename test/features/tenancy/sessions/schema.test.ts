import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { scopeWord } from '../../../../src/core/scopes.ts';
import { ROLE_SCOPES } from '../../../../src/core/staff-roles.ts';
import { COMMAND_LINE } from '../../../../src/features/tenancy/audit/author.ts';
import { addStaff } from '../../../../src/features/tenancy/staff/add.ts';
import { dataOf, faultsOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { type SecondGateway, startSecondGateway } from '../../../support/second-gateway.ts';
import { connect, stream } from '../../events/subscriber.ts';

const APP = 'https://app.example';

let gateway: TestGateway;
let beside: SecondGateway;
let agent: { readonly id: number; readonly email: string };
let admin: { readonly id: number; readonly email: string };
beforeAll(async () => {
  gateway = await startGateway();
  beside = await startSecondGateway(gateway);
  agent = await add('agent@example.com');
  admin = await add('admin@example.com');
  await gateway.database.query("update staff set role = 'admin' where id = $1", [admin.id]);
});
afterAll(async () => {
  await beside.stop();
  await gateway.stop();
});

const add = (email: string) =>
  gateway.gateway.resources.db.transaction(trx =>
    addStaff(trx, gateway.tenant.id, { name: 'Ana', email }, COMMAND_LINE),
  );

interface Options {
  readonly email?: string;
  readonly token?: string;
  readonly [option: string]: unknown;
}

const SELECTION = 'token expiresAt staffMember { databaseId role }';
const create = ({ email = agent.email, token, ...input }: Options = {}) =>
  gateway.mutate(
    'createStaffSession',
    { staffMember: { email }, documentsOnly: false, origins: [], ...input },
    SELECTION,
    token,
  );
const session = async (options?: Options): Promise<string> =>
  dataOf(await create(options)).createStaffSession.token as string;

const call = (token: string, headers: Record<string, string> = {}, query = '{ viewer { scopes } }') =>
  fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });

const revoke = (id: number) =>
  gateway.mutate('revokeStaffSessions', { id: String(id) }, 'staffMember { databaseId }').then(dataOf);

describe('a staff session', () => {
  test('acts as its staff member for 15 minutes, with the scopes of the role', async () => {
    const before = Date.now();
    const created = dataOf(await create({ staffMember: { id: String(agent.id) } })).createStaffSession;
    expect(created).toMatchObject({ token: expect.stringMatching(/^pls_/), staffMember: { role: 'AGENT' } });
    const lifeMs = Date.parse(created.expiresAt) - before;
    expect(lifeMs).toBeGreaterThanOrEqual(900_000);
    expect(lifeMs).toBeLessThan(960_000);
    const { viewer } = dataOf(
      await gateway.graphql('{ viewer { scopes callsPerMinute expiresAt staffMember { email } } }', {}, created.token),
    );
    expect(viewer).toEqual({
      scopes: ROLE_SCOPES.agent.map(scopeWord),
      callsPerMinute: 600,
      expiresAt: created.expiresAt,
      staffMember: { email: agent.email },
    });
    expect(dataOf(await gateway.graphql('{ viewer { staffMember { email } } }')).viewer.staffMember).toBeNull();
  });

  test('is never wider than the token that mints it: scopes, rate and expiry', async () => {
    const expiresAt = new Date(Date.now() + 300_000).toISOString();
    const scopes = ['staff:write', 'contacts:read', 'webhooks:read'];
    const token = await gateway.addToken(gateway.tenant, { scopes, callsPerMinute: 50, expiresAt });
    const created = await session({ token, email: admin.email, ttlSeconds: 3_600, callsPerMinute: 5_000 });
    const { viewer } = dataOf(await gateway.graphql('{ viewer { scopes callsPerMinute expiresAt } }', {}, created));
    expect(viewer).toEqual({
      scopes: ['CONTACTS_READ', 'STAFF_WRITE', 'WEBHOOKS_READ'],
      callsPerMinute: 50,
      expiresAt,
    });
  });

  test('has a quota of its own', async () => {
    const token = await session({ callsPerMinute: 1 });
    expect((await call(token)).status).toBe(200);
    expect((await call(token)).status).toBe(429);
    expect((await call(await session({ callsPerMinute: 1 }))).status).toBe(200);
  });

  test('has at most the role of its staff member, and all faults are reported at once', async () => {
    expect(
      faultsOf(
        await create({ role: 'ADMIN', ttlSeconds: 59, callsPerMinute: 0, origins: [APP, 'https://a.example/x'] }),
      ),
    ).toEqual({
      role: [expect.any(String)],
      ttlSeconds: [expect.any(String)],
      callsPerMinute: [expect.any(String)],
      'origins.1': [expect.any(String)],
    });
    const viewer = await session({ email: admin.email, role: 'VIEWER' });
    expect(dataOf(await gateway.graphql('{ viewer { scopes } }', {}, viewer)).viewer.scopes).toEqual(
      ROLE_SCOPES.viewer.map(scopeWord),
    );
  });

  test('needs staff:write and an access token: a session cannot create another one', async () => {
    const poor = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read'] });
    expect((await create({ token: poor })).errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE' } }]);
    const own = await session({ email: admin.email });
    expect((await create({ token: own })).errors).toMatchObject([{ extensions: { code: 'INSUFFICIENT_SCOPE' } }]);
  });

  test('is created for a member of the own account only', async () => {
    const other = await gateway.addTenant({ channel: false });
    const refused = await create({ token: other.token });
    expect(refused.data?.createStaffSession.userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
  });

  test('is created once per idempotency key; its token is shown once', async () => {
    const options = { idempotencyKey: crypto.randomUUID() };
    const first = dataOf(await create(options)).createStaffSession;
    const again = dataOf(await create(options)).createStaffSession;
    expect(again).toEqual({ ...first, token: null });
  });

  test('is written to the audit log with its author', async () => {
    await session();
    const [entry] = await gateway.database.query<{ author: unknown; action: string }>(
      "select author, action from audit_log where subject = $1 and action = 'staff_session.created' order by id desc limit 1",
      [`staff:${agent.id}`],
    );
    expect(entry).toMatchObject({ author: { kind: 'token' } });
  });
});

describe('origins', () => {
  test('are checked for each request: another page is refused, and a write without an origin', async () => {
    const token = await session({ origins: [APP] });
    expect((await call(token, { origin: APP })).status).toBe(200);
    expect((await call(token, { origin: 'https://evil.example' })).status).toBe(401);
    expect((await call(token)).status).toBe(401);
    const get = (headers: Record<string, string>) =>
      fetch(`${gateway.url}/api/v2/contacts`, { headers: { authorization: `Bearer ${token}`, ...headers } });
    expect((await get({})).status).toBe(200);
    expect((await get({ origin: 'https://evil.example' })).status).toBe(401);
  });

  test('are checked when a WebSocket opens', async () => {
    const token = await session({ origins: [APP] });
    const open = async (headers: Record<string, string>) => {
      const client = createClient({
        url: `${gateway.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: class extends WebSocket {
          constructor(address: string, protocols: string | string[]) {
            super(address, protocols, { headers });
          }
        },
        retryAttempts: 0,
        connectionParams: { token },
      });
      const result = await client
        .iterate({ query: '{ viewer { callsPerMinute } }' })
        .next()
        .then(
          ({ value }) => value?.data,
          (error: { code: number }) => error.code,
        );
      await client.dispose();
      return result;
    };
    expect(await open({ origin: APP })).toEqual({ viewer: { callsPerMinute: 600 } });
    expect(await open({ origin: 'https://evil.example' })).toBe(4403);
    expect(await open({})).toBe(4403);
  });
});

describe('a revocation', () => {
  const EVENTS = 'subscription { events(filter: { types: [GROUP_CREATED] }) { id } }';

  test('closes sockets with 4403 and ends SSE by a signal, in every process, and spares others', async () => {
    // The watch over open sockets and streams, which looks every two seconds, never does here.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const [token, other] = [await session(), await session({ email: admin.email })];
    const clients = [gateway.url, beside.url].map(url => {
      const closed = Promise.withResolvers<number>();
      const client = connect(url, token, { closed: event => closed.resolve((event as { code: number }).code) });
      return { client, closed: closed.promise };
    });
    const spared = connect(beside.url, other);
    await Promise.all(
      [...clients.map(({ client }) => client), spared].map(
        client =>
          new Promise(resolve => {
            client.on('connected', resolve);
          }),
      ),
    );
    const streams = await Promise.all([gateway.url, beside.url].map(url => stream(url, token, { query: EVENTS })));
    await revoke(agent.id);
    expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual([4403, 4403]);
    await Promise.all(streams.map(({ ended }) => ended));
    await eventually(async () =>
      expect((await beside.graphql('{ viewer { scopes } }', {}, token)).errors).toBeDefined(),
    );
    expect(streams.map(({ errors }) => errors[0]?.extensions.code)).toEqual(['UNAUTHORIZED', 'UNAUTHORIZED']);
    expect((await call(token)).status).toBe(401);
    expect((await call(other)).status).toBe(200);
    await spared.dispose();
  });

  test('of the own session needs no scope, and ends no other session of the person', async () => {
    const [own, other] = [await session(), await session()];
    const ended = await gateway.mutate('revokeOwnSession', {}, 'staffMember { email }', own);
    expect(dataOf(ended).revokeOwnSession.staffMember.email).toBe(agent.email);
    expect((await call(own)).status).toBe(401);
    expect((await call(other)).status).toBe(200);
    const plain = await gateway.mutate('revokeOwnSession', {}, 'staffMember { email }');
    expect(plain.data?.revokeOwnSession.userErrors).toMatchObject([{ code: 'NOT_FOUND' }]);
  });

  test('of the token that minted them ends sessions', async () => {
    const minter = await gateway.addToken(gateway.tenant, {});
    const token = await session({ token: minter });
    expect((await call(token)).status).toBe(200);
    const { viewer } = dataOf(await gateway.graphql('{ viewer { token { id } } }', {}, minter));
    await gateway.graphql('mutation ($id: ID!) { revokeAccessToken(input: { id: $id }) { accessToken { id } } }', {
      id: viewer.token.id,
    });
    expect((await call(token)).status).toBe(401);
  });
});

test('a session ends when it expires, and is deleted two days later', async () => {
  const token = await session({ ttlSeconds: 60 });
  await gateway.database.query(
    "update staff_sessions set expires_at = now() - interval '1 second' where hash = sha256($1)",
    [Buffer.from(token)],
  );
  expect((await call(token)).status).toBe(401);
});

test('a session that is created while its staff member gets a narrower role has only that one', async () => {
  const member = await add('narrowed@example.com');
  await gateway.database.query("update staff set role = 'admin' where id = $1", [member.id]);
  const waiting = async (count: number) =>
    eventually(async () => {
      const rows = await gateway.database.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(rows).toHaveLength(count);
    });
  // The change has ended the sessions that it saw, and waits to commit.
  const lock = await holdLock(gateway.database, 'lock table audit_log in share mode');
  const changed = gateway.mutate('updateStaffMember', { id: String(member.id), role: 'VIEWER' });
  await waiting(1);
  const created = create({ email: member.email });
  await waiting(2);
  await lock.release();
  dataOf(await changed);
  const { token } = dataOf(await created).createStaffSession;
  const { viewer } = dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token));
  expect(viewer.scopes).toEqual(ROLE_SCOPES.viewer.map(scopeWord));
});

test('a session that executes trusted documents only runs no text and no REST', async () => {
  const token = await session({ documentsOnly: true });
  const answer = await call(token);
  expect(JSON.stringify(await answer.json())).toContain('DOCUMENT_REQUIRED');
  const rest = await fetch(`${gateway.url}/api/v2/contacts`, { headers: { authorization: `Bearer ${token}` } });
  expect(rest.status).toBe(403);
});

test('a session that executes trusted documents only runs no text in a malformed request either', async () => {
  const token = await session({ email: admin.email, documentsOnly: true });
  const headers = { authorization: `Bearer ${token}` };
  const mutation = (name: string) =>
    `mutation { createContactGroup(input: { name: "${name}" }) { contactGroup { name } } }`;
  const malformed = [
    { documentId: `sha256:${'0'.repeat(64)}` },
    { documentId: 'sha256:x' },
    { extensions: { persistedQuery: { version: 2, sha256Hash: '0'.repeat(64) } } },
    { extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } } },
  ];
  const streams = malformed.map((extra, index) =>
    fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: mutation(`streamed ${index}`), ...extra }),
    }),
  );
  const reads = malformed.map(extra => {
    const texts = Object.entries(extra).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    const parameters = new URLSearchParams([['query', '{ viewer { scopes } }'], ...texts]);
    return fetch(`${gateway.url}/graphql?${parameters}`, { headers: { ...headers, accept: 'application/json' } });
  });
  for (const answer of await Promise.all([...streams, ...reads])) {
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      errors: [expect.objectContaining({ extensions: expect.objectContaining({ code: 'BAD_REQUEST' }) })],
      extensions: { cost: expect.anything() },
    });
  }
  const groups = await gateway.graphql('{ contactGroups(search: "streamed") { totalCount } }');
  expect(dataOf(groups).contactGroups.totalCount).toBe(0);
});
