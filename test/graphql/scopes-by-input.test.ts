import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_RESOURCES, scopesToRead } from '../../src/core/events.ts';
import { legacyOf, restOf } from '../rest/client.ts';
import { codeOf, dataOf, payloadOf } from '../support/answers.ts';
import { type GraphQLAnswer, startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone, seedOf } from '../support/seed.ts';

/** Scopes that no field declares, because they follow from what a request names: nothing is done in the name of a token that lacks them. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ env: { PARLEY_WEBHOOK_ALLOW_HTTP: 'true' } });
});
afterAll(() => gateway.stop());

const tokenWith = (...scopes: string[]) => gateway.addToken(gateway.tenant, { scopes });
const required = ({ errors }: GraphQLAnswer) => (errors?.[0]?.extensions.details as { required?: string[] })?.required;
let made = 0;
const unique = (): string => {
  made += 1;
  return String(made);
};

describe('a webhook endpoint', () => {
  const create = (token: string, events: string[]) => {
    const input = { url: `https://example.com/${unique()}`, events };
    return gateway.mutate('createWebhookEndpoint', input, 'webhookEndpoint { databaseId }', token);
  };
  const idOf = (answer: GraphQLAnswer): string => payloadOf(answer).webhookEndpoint.databaseId;
  const endpoint = async (events: string[]): Promise<string> => idOf(await create(gateway.tenant.token, events));
  const update = (token: string, id: string, input: object) =>
    gateway.mutate('updateWebhookEndpoint', { id, ...input }, 'webhookEndpoint { url events }', token);

  test.each([
    [['message.received'], ['messages:read']],
    [
      ['otp.*', 'order.received'],
      ['integrations:read', 'messages:read'],
    ],
    [['*'], [...new Set(Object.values(EVENT_RESOURCES))].sort()],
  ])('for %j is created only with %j', async (events, scopes) => {
    expect(scopesToRead(events)).toEqual(scopes);
    for (const missing of scopes) {
      const token = await tokenWith('webhooks:write', ...scopes.filter(scope => scope !== missing));
      const refused = await create(token, events);
      expect([codeOf(refused), required(refused)]).toEqual(['INSUFFICIENT_SCOPE', scopes]);
    }
    dataOf(await create(await tokenWith('webhooks:write', ...scopes), events));
  });

  test('is changed, and its secret rotated, only with the scopes of its old and its new events', async () => {
    const id = await endpoint(['message.*']);
    const token = await tokenWith('webhooks:write', 'contacts:read');
    for (const input of [{ url: 'https://example.com/mine' }, { isEnabled: false }, { events: ['contact.*'] }])
      expect(required(await update(token, id, input))).toContain('messages:read');
    expect(codeOf(await gateway.mutate('rotateWebhookSecret', { id }, 'secret', token))).toBe('INSUFFICIENT_SCOPE');
    const own = idOf(await create(token, ['contact.created']));
    expect(codeOf(await update(token, own, { events: ['*'] }))).toBe('INSUFFICIENT_SCOPE');
    dataOf(await update(token, own, { events: ['contact.*'] }));
  });

  test('replays events only with the scopes to read them', async () => {
    const id = await endpoint(['group.created']);
    dataOf(
      await gateway.graphql(
        `mutation { createContactGroup(input: { name: "Again ${unique()}" }) { contactGroup { id } } }`,
      ),
    );
    const DELIVERIES = `query ($id: ID!) { webhookDeliveries(filter: { endpointId: { eq: $id } }) { nodes {
      databaseId requestBody event { type } } } }`;
    const deliveries = async (by?: string) =>
      dataOf(await gateway.graphql(DELIVERIES, { id }, by)).webhookDeliveries.nodes;
    await expect.poll(() => deliveries()).toHaveLength(1);
    const token = await tokenWith('webhooks:write', 'webhooks:read');
    const [{ databaseId }] = await deliveries();
    const replay = (input: object) => gateway.mutate('replayWebhookDeliveries', input, 'count', token);
    const refused = [
      await gateway.mutate('replayWebhookDelivery', { id: databaseId }, 'webhookDelivery { status }', token),
      await replay({ ids: [databaseId] }),
      await replay({ endpointId: id, since: '2026-01-01' }),
    ];
    expect(refused.map(required)).toEqual([['groups:read'], ['groups:read'], ['groups:read']]);
    const mine = await tokenWith('webhooks:read', 'groups:read');
    expect([await deliveries(token), await deliveries(mine)]).toEqual([
      [{ databaseId, requestBody: null, event: null }],
      [{ databaseId, requestBody: expect.stringContaining('Again'), event: { type: 'GROUP_CREATED' } }],
    ]);
  });

  test('is not returned from an idempotency key without the scopes to read its events', async () => {
    const [wide, narrow] = await Promise.all([tokenWith('webhooks:*', 'messages:read'), tokenWith('webhooks:*')]);
    const body = { url: `https://example.com/${unique()}`, events: ['message.*'] };
    const headers = { 'idempotency-key': `create-${unique()}` };
    const as = (token: string) => restOf(gateway, { token });
    const created = await as(wide)('POST', '/webhooks', body, headers);
    expect(created.status).toBe(201);
    expect((await as(narrow)('POST', '/webhooks', body, headers)).status).toBe(403);
    const path = `/webhooks/${created.body.data.id}`;
    const key = { 'idempotency-key': `update-${unique()}` };
    expect((await as(wide)('PATCH', path, { description: 'x' }, key)).status).toBe(200);
    const again = await as(narrow)('PATCH', path, { description: 'x' }, key);
    expect([again.status, again.body.error?.details?.required]).toEqual([403, ['messages:read']]);
  });
});

describe('a missing group named in an input', () => {
  test('is created only with groups:write, in GraphQL and REST v1', async () => {
    const [narrow, wide] = await Promise.all([tokenWith('contacts:*'), tokenWith('contacts:*', 'groups:write')]);
    const name = `Named ${unique()}`;
    const CREATE = `mutation ($phone: String!, $names: [String!]) { createContact(input: { phone: $phone, groupNames: $names }) { contact { databaseId } } }`;
    const create = (token: string) => gateway.graphql(CREATE, { phone: newPhone(), names: [name] }, token);
    const legacy = (token: string, method: string, path: string) =>
      legacyOf(gateway, { slug: gateway.tenant.slug, token })(method, path, {
        firstname: 'A',
        phone: newPhone(),
        type: 'lead',
        groups: name,
      });
    const { id } = await seedOf(gateway).contact();
    const count = async () =>
      gateway.database.query('select (select count(*) from contacts), (select count(*) from groups) as groups');
    const before = await count();
    const refused = await create(narrow);
    expect([codeOf(refused), required(refused)]).toEqual(['INSUFFICIENT_SCOPE', ['groups:write']]);
    expect((await legacy(narrow, 'POST', '/contacts')).status).toBe(403);
    expect((await legacy(narrow, 'PUT', `/contacts/${id}`)).status).toBe(403);
    expect(await count()).toEqual(before);
    dataOf(await create(wide));
    // Now it is there, and naming it makes nothing.
    dataOf(await create(narrow));
    expect((await legacy(narrow, 'POST', '/contacts')).status).toBe(201);
  });
});

describe('an integration', () => {
  const mapping = { name: 'Paid', template: { name: 'order', language: 'en' } };
  const create = (token: string, mappings: object[]) =>
    gateway.mutate(
      'createIntegration',
      { kind: 'GENERIC', name: `Shop ${unique()}`, mappings },
      'integration { databaseId mappings { databaseId } }',
      token,
    );
  const DOES = ['contacts:write', 'groups:write', 'messages:send'];

  test('accepts mappings, a given secret and replays only with the scopes that its mappings need', async () => {
    const group = dataOf(
      await gateway.graphql(
        `mutation { createContactGroup(input: { name: "Buyers ${unique()}" }) { contactGroup { databaseId } } }`,
      ),
    ).createContactGroup.contactGroup.databaseId;
    const full = { ...mapping, groupIds: [String(group)] };
    const narrow = await tokenWith('integrations:*');
    for (const missing of DOES) {
      const refused = await create(await tokenWith('integrations:*', ...DOES.filter(scope => scope !== missing)), [
        full,
      ]);
      expect([codeOf(refused), required(refused)]).toEqual(['INSUFFICIENT_SCOPE', DOES]);
    }
    dataOf(await create(narrow, []));
    const { databaseId: id, mappings } = payloadOf(
      await create(await tokenWith('integrations:*', ...DOES), [full]),
    ).integration;
    const refused = async (name: string, input: object, selection: string) =>
      required(await gateway.mutate(name, input, selection, narrow));
    const change = { id: mappings[0].databaseId, template: null, groupIds: [] };
    const since = { integrationId: id, since: '2026-01-01T00:00:00Z' };
    for (const [name, input, selection] of [
      ['updateIntegration', { id, isEnabled: true }, 'integration { id }'],
      ['rotateIntegrationSecret', { id }, 'secret'],
      ['updateIntegrationMapping', change, 'integrationMapping { id }'],
      ['replayIntegrationDeliveries', since, 'count'],
    ] as const)
      expect(await refused(name, input, selection), name).toEqual(DOES);
    expect(
      await refused('createIntegrationMapping', { integrationId: id, ...mapping }, 'integrationMapping { id }'),
    ).toEqual(['contacts:write', 'messages:send']);
  });

  test('shows contact data in a dry run only with contacts:read', async () => {
    const { databaseId: id } = payloadOf(await create(gateway.tenant.token, [mapping])).integration;
    const run =
      'query ($id: ID!) { dryRunIntegration(integrationId: $id, payload: { order_id: "1", phone: "+14155550199" }) { mappings { text rendered { body } } } }';
    const { errors } = await gateway.graphql(run, { id }, await tokenWith('integrations:read'));
    expect(errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code])).toEqual([
      ['text', 'INSUFFICIENT_SCOPE'],
      ['rendered', 'INSUFFICIENT_SCOPE'],
    ]);
  });
});
