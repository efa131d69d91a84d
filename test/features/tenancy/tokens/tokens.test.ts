import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SCOPES } from '../../../../src/core/scopes.ts';
import { updateTenant } from '../../../../src/features/tenancy/tenants/store.ts';
import { generateToken } from '../../../../src/features/tenancy/tokens/token.ts';
import { codeOf, dataOf, faultsOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../../../support/second-gateway.ts';

let gateway: TestGateway;
let second: SecondGateway;
beforeAll(async () => {
  gateway = await startGateway();
  second = await startSecondGateway(gateway);
});
afterAll(async () => {
  await second.stop();
  await gateway.stop();
});

const CREATE =
  'mutation ($input: CreateAccessTokenInput!) { createAccessToken(input: $input) { userErrors { code message path } token accessToken { databaseId name hint scopes callsPerMinute expiresAt revokedAt createdAt } } }';
const create = (input: object, token?: string) =>
  gateway.graphql(CREATE, { input: { name: 'made', scopes: ['CONTACTS_READ'], ...input } }, token);
const made = async (input: object, token?: string) => dataOf(await create(input, token)).createAccessToken;
const revoke = (id: unknown, token?: string) =>
  gateway.mutate('revokeAccessToken', { id }, 'accessToken { databaseId revokedAt }', token);
const viewer = (token: string, via: Pick<TestGateway, 'graphql'> | SecondGateway = gateway) =>
  via.graphql('{ viewer { scopes callsPerMinute expiresAt account { subdomain } token { hint } } }', {}, token);
/** The code of what a token is told, without asking the database for more than who it is. */
const codeFor = async (token: string, via: Pick<TestGateway, 'graphql'> | SecondGateway = gateway) =>
  codeOf(await via.graphql('{ viewer { scopes } }', {}, token));
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

/** Times of last use are written periodically, independently of the calls that a test makes. */
const isLookUp = (text: string): boolean => text.includes('access_tokens') && !text.includes('last_used_at = now()');

// First of all: calls without a good token are counted by address, and those below wait in loops.
describe('round trips', () => {
  const lookUps = (): number => gateway.statements.filter(isLookUp).length;

  beforeEach(() => {
    gateway.statements.length = 0;
  });

  test.each([
    ['nonsense', 'nonsense'],
    ['another prefix', generateToken().replace('ply_', 'plx_')],
    ['a mistyped character', generateToken().replace(/.$/, last => (last === 'a' ? 'b' : 'a'))],
    ['one character less', generateToken().slice(0, -1)],
    ['one character more', `${generateToken()}a`],
    ['thousands of characters', 'x'.repeat(8_000)],
  ])('a token that is %s costs none', async (_name, token) => {
    expect(await codeFor(token)).toBe('UNAUTHORIZED');
    expect(lookUps()).toBe(0);
  });

  test('a well-formed token that nobody has costs one, and then none', async () => {
    const token = generateToken();
    for (let call = 0; call < 5; call += 1) expect(await codeFor(token)).toBe('UNAUTHORIZED');
    expect(lookUps()).toBe(1);
  });

  test('a warm token costs none, however many calls come at once', async () => {
    const token = await gateway.addToken(gateway.tenant, {});
    gateway.statements.length = 0;
    const startedAt = performance.now();
    for (let round = 0; round < 2; round += 1) await Promise.all(Array.from({ length: 20 }, () => codeFor(token)));
    // And one each time that what is known of it is older than 2.5 s.
    expect(lookUps()).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAt) / 2_500));
    expect(lookUps()).toBeGreaterThan(0);
  });
});

describe('a new token', () => {
  test('is shown once, works at once, and only its hash is stored', async () => {
    const { token, accessToken } = await made({ name: '  Shop  ', scopes: ['ACCOUNT_READ', 'CONTACTS_READ'] });
    expect(token).toMatch(/^ply_[0-9A-Za-z]{49}$/);
    expect(accessToken).toMatchObject({
      name: 'Shop',
      hint: token.slice(-4),
      scopes: ['ACCOUNT_READ', 'CONTACTS_READ'],
      callsPerMinute: 60,
      expiresAt: null,
      revokedAt: null,
    });
    expect(dataOf(await viewer(token)).viewer).toMatchObject({
      scopes: ['ACCOUNT_READ', 'CONTACTS_READ'],
      token: { hint: token.slice(-4) },
      account: { subdomain: gateway.tenant.slug },
    });
    const stored = await gateway.database.query('select t::text as row from access_tokens t');
    expect(JSON.stringify(stored)).not.toContain(token.slice(4, 40));
  });

  test('is in the list, newest first, without its secret', async () => {
    const { accessToken } = await made({ name: 'Listed' });
    const { accessTokens } = dataOf(await gateway.graphql('{ accessTokens { nodes { databaseId name } } }'));
    expect(accessTokens.nodes[0]).toEqual({ databaseId: accessToken.databaseId, name: 'Listed' });
  });

  test.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: '  ' }],
    ['name', { name: 'x'.repeat(101) }],
    ['scopes', { scopes: [] }],
    ['callsPerMinute', { callsPerMinute: 0 }],
    ['callsPerMinute', { callsPerMinute: -5 }],
    ['callsPerMinute', { callsPerMinute: 6_001 }],
    ['expiresAt', { expiresAt: inSeconds(-1) }],
  ])('is refused by the field %s: %o', async (field, input) =>
    expect(Object.keys(faultsOf(await create(input)))).toEqual([field]),
  );

  test.each<[string[], string[]]>([
    [['contacts:*'], ['contacts:delete', 'contacts:export', 'contacts:read', 'contacts:write']],
    [['*'], [...SCOPES]],
    [
      ['contacts.create', 'groups.view', 'sources.*'],
      ['contacts:write', 'groups:read', 'sources:delete', 'sources:read', 'sources:write'],
    ],
    [[' contacts:read ', 'contacts:read'], ['contacts:read']],
  ])('of the command line takes the scopes %j as people write them', async (scopes, expected) => {
    const token = await gateway.addToken(gateway.tenant, { scopes });
    expect(dataOf(await gateway.graphql('{ viewer { scopes } }', {}, token)).viewer.scopes).toEqual(
      expected.map(scope => scope.replace(':', '_').toUpperCase()),
    );
  });
});

test('a scope of a newer version, made during an upgrade, grants nothing here and is not shown', async () => {
  const token = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read'] });
  await gateway.database.query("update access_tokens set scopes = scopes || '{moons:read}' where hint = $1", [
    token.slice(-4),
  ]);
  expect(dataOf(await gateway.graphql('{ viewer { scopes token { scopes } } }', {}, token)).viewer).toEqual({
    scopes: ['CONTACTS_READ'],
    token: { scopes: ['CONTACTS_READ'] },
  });
});

describe('a token is never wider than the one that makes it', () => {
  const expiresAt = inSeconds(3_600);
  let narrow = '';
  beforeAll(async () => {
    narrow = await gateway.addToken(gateway.tenant, {
      scopes: ['tokens:write', 'contacts:read'],
      callsPerMinute: 50,
      expiresAt,
    });
  });

  test.each<[string, object]>([
    ['scopes', { scopes: ['CONTACTS_WRITE'] }],
    ['scopes', { scopes: ['CONTACTS_READ', 'CONTACTS_DELETE'] }],
    ['callsPerMinute', { callsPerMinute: 51 }],
    ['expiresAt', { expiresAt: inSeconds(3_700) }],
  ])('%s: %o', async (field, input) => expect(Object.keys(faultsOf(await create(input, narrow)))).toEqual([field]));

  test('omitted settings are at most those of its creator', async () => {
    expect((await made({}, narrow)).accessToken).toMatchObject({ callsPerMinute: 50, expiresAt });
    expect((await made({ expiresAt: null, callsPerMinute: null }, narrow)).accessToken).toMatchObject({
      callsPerMinute: 50,
      expiresAt,
    });
  });

  test('and is not made without tokens:write, nor seen without tokens:read', async () => {
    const reader = await gateway.addToken(gateway.tenant, { scopes: ['contacts:read'] });
    expect(codeOf(await create({}, reader))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await gateway.graphql('{ accessTokens { totalCount } }', {}, narrow))).toBe('INSUFFICIENT_SCOPE');
  });

  test('a token is never faster than the plan of its tenant', async () => {
    const tenant = await gateway.addTenant({ plan: 'starter', channel: false });
    expect(dataOf(await viewer(tenant.token)).viewer.callsPerMinute).toBe(120);
    expect(faultsOf(await create({ callsPerMinute: 121 }, tenant.token))).toHaveProperty('callsPerMinute');
  });
});

describe('a token ends', () => {
  test('here at once and elsewhere soon when it is revoked, and revoking it again keeps the first time', async () => {
    const { token, accessToken } = await made({});
    expect([await codeFor(token), await codeFor(token, second)]).toEqual([undefined, undefined]);
    const { revokedAt } = payloadOf(await revoke(accessToken.databaseId)).accessToken;
    expect(await codeFor(token)).toBe('UNAUTHORIZED');
    expect(payloadOf(await revoke(accessToken.databaseId)).accessToken.revokedAt).toBe(revokedAt);
    // Within five seconds: verifier.test.ts has the time.
    await eventually(async () => expect(await codeFor(token, second)).toBe('UNAUTHORIZED'));
  });

  test('when it revokes itself', async () => {
    const { token, accessToken } = await made({ scopes: ['TOKENS_WRITE'] });
    dataOf(await revoke(accessToken.databaseId, token));
    expect(await codeFor(token)).toBe('UNAUTHORIZED');
  });

  test('at the moment it expires, warm or not', async () => {
    let token: string;
    let expiresAt: string;
    // Longer each time, where the machine sleeps through its life.
    for (let seconds = 0.7; ; seconds *= 2) {
      expiresAt = inSeconds(seconds);
      token = await gateway.addToken(gateway.tenant, { expiresAt });
      if ((await codeFor(token)) === undefined) break;
    }
    while (Date.now() < Date.parse(expiresAt)) await new Promise(resolve => setTimeout(resolve, 10));
    expect(await codeFor(token)).toBe('UNAUTHORIZED');
    expect(await codeFor(token, second)).toBe('UNAUTHORIZED');
  });

  test('while its tenant is suspended', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    expect(await codeFor(tenant.token)).toBeUndefined();
    await gateway.gateway.resources.db.transaction(trx => updateTenant(trx, tenant.id, { status: 'suspended' }));
    expect(await codeFor(tenant.token, second)).toBe('UNAUTHORIZED');
    await eventually(async () => expect(await codeFor(tenant.token)).toBe('UNAUTHORIZED'));
  });

  test('nothing of another tenant can be revoked, in the words for what does not exist', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const [{ id } = { id: 0 }] = await gateway.database.query<{ id: number }>(
      'select id::int from access_tokens where tenant_id = $1',
      [tenant.id],
    );
    const [theirs, nobodys] = [await revoke(id), await revoke(999_999_999)];
    expect(userErrorsOf(theirs)).toEqual(userErrorsOf(nobodys));
    expect(codeOf(theirs)).toBe('NOT_FOUND');
    expect(await codeFor(tenant.token)).toBeUndefined();
  });
});

test('the secret of a token stands in no log line', async () => {
  const { token } = await made({ name: 'Secret' });
  await viewer(token);
  await viewer(`${token}x`);
  await fetch(`${gateway.url}/graphql?token=${token}`, { headers: { authorization: `Bearer ${token}` } }).then(answer =>
    answer.text(),
  );
  expect(JSON.stringify(gateway.logs)).not.toContain(token.slice(4));
});
