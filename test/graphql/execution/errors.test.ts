import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CodedError } from '../../../src/core/errors.ts';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../../support/second-gateway.ts';
import { read } from '../transport/http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const post = async (url: string, body: object, token = gateway.tenant.token) =>
  read(
    await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    }),
  );

describe('a database with a broken schema', () => {
  beforeAll(async () => {
    await gateway.database.query('alter table sources rename to sources_gone');
    await gateway.database.query('alter table contacts rename column company to company_gone');
  });
  afterAll(async () => {
    await gateway.database.query('alter table sources_gone rename to sources');
    await gateway.database.query('alter table contacts rename column company_gone to company');
  });

  test.each([
    ['a list', '{ contacts { nodes { company } } }'],
    ['an object', '{ contact(id: 1) { id } }'],
    ['a list of labels', '{ contactSources { nodes { name } } }'],
    ['a node', `{ node(id: "${encodeGlobalId('ContactSource', 1, 1)}") { id } }`],
    ['a mutation', 'mutation { createContactSource(input: { name: "x" }) { contactSource { id } } }'],
    [
      'a mutation in a transaction',
      'mutation { createContact(input: { phone: "+4915112121212" }) { contact { id } } }',
    ],
  ])(
    '%s: answers INTERNAL_ERROR with the id of the request and nothing else, and the log has the rest',
    async (_name, query) => {
      const { status, json, text, headers } = await post(gateway.url, { query });
      const requestId = headers.get('x-request-id');
      expect([status, json.errors.length]).toEqual([200, 1]);
      expect(json.errors[0].extensions).toEqual({ code: 'INTERNAL_ERROR', details: { request_id: requestId } });
      expect(text).not.toMatch(/relation|column|select|insert|42P01|42703|sources_gone|company_gone|node_modules/i);
      const line = gateway.logs.find(entry => entry['requestId'] === requestId && entry['err']);
      expect(JSON.stringify(line)).toMatch(/does not exist/);
      expect(line?.['level']).toBe(50);
    },
  );

  test('does not affect operations on other tables', async () => {
    dataOf(
      await gateway.graphql('{ viewer { scopes } contactGroups { nodes { id } } contacts { nodes { firstName } } }'),
    );
    const { data, errors } = await gateway.graphql('{ viewer { callsPerMinute } contact(id: 1) { id } }');
    expect([data, errors?.[0]?.extensions.code]).toEqual([
      { viewer: { callsPerMinute: 6_000 }, contact: null },
      'INTERNAL_ERROR',
    ]);
  });
});

describe('an unavailable database', () => {
  let line: DatabaseProxy;
  let far: SecondGateway;
  beforeAll(async () => {
    line = await startDatabaseProxy(gateway.database.url);
    far = await startSecondGateway(gateway, line.databaseUrl);
  });
  afterAll(async () => {
    line.mend();
    await far.stop();
    await line.stop();
  });

  test('answers SERVICE_UNAVAILABLE to reads, writes and unknown tokens, is not ready, and recovers by itself', async () => {
    const cold = await gateway.addToken(gateway.tenant, {});
    dataOf(await far.graphql('{ contacts { totalCount } }'));
    line.cut();
    for (let round = 0; round < 3; round += 1) {
      for (const query of [
        '{ contacts { nodes { id } } }',
        '{ contact(id: 1) { id } }',
        'mutation { createContactGroup(input: { name: "Lost" }) { contactGroup { id } } }',
      ]) {
        const { status, json, text, headers } = await post(far.url, { query });
        expect(
          json.errors?.map((error: { extensions: object }) => error.extensions),
          text,
        ).toEqual([{ code: 'SERVICE_UNAVAILABLE', details: { retry_after: expect.any(Number) } }]);
        expect([status, headers.get('retry-after')]).toEqual([503, '1']);
        expect(text).not.toMatch(/ECONN|socket|postgres|127\.0\.0\.1|terminated/i);
      }
    }
    const unknown = await post(far.url, { query: '{ viewer { scopes } }' }, cold);
    expect([unknown.status, unknown.json.error?.code ?? unknown.json.errors?.[0].extensions.code]).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
    ]);
    expect(unknown.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect((await fetch(`${far.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${far.url}/healthz`)).status).toBe(200);
    line.mend();
    await eventually(async () => {
      expect((await fetch(`${far.url}/readyz`)).status).toBe(200);
      dataOf(await far.graphql('{ contacts { totalCount nodes { id } } }'));
      dataOf(await far.graphql('mutation { createContactGroup(input: { name: "Found" }) { contactGroup { id } } }'));
    });
    expect(
      codeOf(await far.graphql('mutation { createContactGroup(input: { name: "Lost" }) { contactGroup { id } } }')),
    ).toBeUndefined();
  });
});

test('connections closed by the database are replaced, and requests succeed again', async () => {
  dataOf(await gateway.graphql('{ contacts { totalCount } }'));
  await gateway.database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'parley' and pid <> pg_backend_pid()",
  );
  await eventually(async () => {
    dataOf(await gateway.graphql('{ contacts { totalCount nodes { id } } }'));
    expect(
      codeOf(
        await gateway.graphql('mutation { deleteContactGroup(input: { id: 1 }) { deletedId userErrors { code } } }'),
      ),
    ).toBe('NOT_FOUND');
  });
  const codes = (
    await Promise.all(Array.from({ length: 20 }, () => gateway.graphql('{ contacts { totalCount } }')))
  ).map(codeOf);
  expect(new Set(codes)).toEqual(new Set([undefined]));
});

test('a coded error contains its code and details, and no stack or cause', () => {
  const error = new CodedError('CONFLICT', 'In use.', { details: { by: 3 } });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    message: 'In use.',
    extensions: { code: 'CONFLICT', details: { by: 3 } },
  });
});
