import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../../src/core/scopes.ts';
import { codeOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { documentOf, leastVariables, ROOT_FIELDS, type RootField } from './execution/operations.ts';

/** The scope of every root field. A field that stands nowhere here fails the first test. */
const SCOPE_OF: Record<string, string | readonly string[] | null> = {
  'query viewer': null,
  'query node': null,
  'query countries': null,
  'query account': 'account:read',
  'query limits': 'account:read',
  'query usage': 'account:read',
  'query accessTokens': 'tokens:read',
  'query bot': 'bots:read',
  'query bots': 'bots:read',
  'query testBot': 'bots:read',
  'query channel': 'channels:read',
  'query channels': 'channels:read',
  'query contact': 'contacts:read',
  'query contacts': 'contacts:read',
  'query staffMembers': 'contacts:read',
  'query group': 'groups:read',
  'query groups': 'groups:read',
  'query source': 'sources:read',
  'query sources': 'sources:read',
  'query status': 'statuses:read',
  'query statuses': 'statuses:read',
  'query media': 'messages:read',
  'query integration': 'integrations:read',
  'query integrations': 'integrations:read',
  'query integrationDelivery': 'integrations:read',
  'query integrationDeliveries': 'integrations:read',
  'query dryRunIntegration': 'integrations:read',
  'query message': 'messages:read',
  'query messages': 'messages:read',
  'query authenticationTemplates': 'templates:read',
  'query otpStatus': 'messages:send',
  'query template': 'templates:read',
  'query templates': 'templates:read',
  'query webhookDeliveries': 'webhooks:read',
  'query webhookDelivery': 'webhooks:read',
  'query webhookEndpoint': 'webhooks:read',
  'query webhookEndpoints': 'webhooks:read',
  'mutation createWebhookEndpoint': 'webhooks:write',
  'mutation deleteWebhookEndpoint': 'webhooks:write',
  'mutation replayWebhookDeliveries': 'webhooks:write',
  'mutation replayWebhookDelivery': 'webhooks:write',
  'mutation rotateWebhookSecret': 'webhooks:write',
  'mutation testWebhookEndpoint': 'webhooks:write',
  'mutation updateWebhookEndpoint': 'webhooks:write',
  'mutation syncTemplates': 'templates:sync',
  'mutation createTemplate': 'templates:write',
  'mutation deleteTemplate': 'templates:write',
  'mutation sendTemplateMessage': 'messages:send',
  'mutation createAccessToken': 'tokens:write',
  'mutation revokeAccessToken': 'tokens:write',
  'mutation resumeChannel': 'channels:write',
  'mutation createBot': ['bots:write', 'messages:send'],
  'mutation updateBot': ['bots:write', 'messages:send'],
  'mutation deleteBot': 'bots:write',
  'mutation createContact': 'contacts:write',
  'mutation createContacts': 'contacts:write',
  'mutation updateContact': 'contacts:write',
  'mutation replaceContact': 'contacts:write',
  'mutation deleteContact': 'contacts:delete',
  'mutation deleteContacts': 'contacts:delete',
  'mutation addContactsToGroup': 'groups:write',
  'mutation removeContactsFromGroup': 'groups:write',
  'mutation createGroup': 'groups:write',
  'mutation createGroups': 'groups:write',
  'mutation updateGroup': 'groups:write',
  'mutation deleteGroup': 'groups:delete',
  'mutation deleteGroups': 'groups:delete',
  'mutation createSource': 'sources:write',
  'mutation createSources': 'sources:write',
  'mutation updateSource': 'sources:write',
  'mutation deleteSource': 'sources:delete',
  'mutation deleteSources': 'sources:delete',
  'mutation createStatus': 'statuses:write',
  'mutation createStatuses': 'statuses:write',
  'mutation updateStatus': 'statuses:write',
  'mutation deleteStatus': 'statuses:delete',
  'mutation deleteStatuses': 'statuses:delete',
  'mutation createIntegration': 'integrations:write',
  'mutation updateIntegration': 'integrations:write',
  'mutation deleteIntegration': 'integrations:write',
  'mutation rotateIntegrationSecret': 'integrations:write',
  'mutation createIntegrationMapping': 'integrations:write',
  'mutation updateIntegrationMapping': 'integrations:write',
  'mutation deleteIntegrationMapping': 'integrations:write',
  'mutation replayIntegrationDelivery': 'integrations:write',
  'mutation replayIntegrationDeliveries': 'integrations:write',
  'mutation createMediaUpload': 'messages:send',
  'mutation sendMediaMessage': 'messages:send',
  'mutation sendTextMessage': 'messages:send',
  'mutation sendInteractiveMessage': 'messages:send',
  'mutation markMessageRead': ['messages:read', 'messages:send'],
  'mutation sendOtp': 'messages:send',
  'mutation resendOtp': 'messages:send',
  'mutation verifyOtp': 'messages:send',
};
const nameOf = ({ operation, name }: RootField): string => `${operation} ${name}`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const run = (field: RootField, token: string) =>
  gateway.graphql(documentOf(field), leastVariables(field, '999999999'), token);

test('every root field has its scope listed here', () =>
  expect(ROOT_FIELDS.map(nameOf).sort()).toEqual(Object.keys(SCOPE_OF).sort()));

test('every root field is UNAUTHORIZED without a token', async () => {
  // Past HTTP, where calls without a token are counted: 60 a minute from one address.
  const { kernel } = gateway.gateway.server;
  for (const field of ROOT_FIELDS) {
    const { data, errors } = await kernel.run(
      prepared(field),
      leastVariables(field, '1'),
      kernel.createContext({ principal: undefined, requestId: 'none' }),
    );
    expect(
      errors?.map(({ extensions }) => extensions['code']),
      nameOf(field),
    ).toEqual(['UNAUTHORIZED']);
    expect(
      Object.values(data ?? {}).filter(value => value !== null),
      nameOf(field),
    ).toEqual([]);
  }
});

function prepared(field: RootField) {
  const found = gateway.gateway.server.kernel.prepare(documentOf(field), undefined);
  if (!('operation' in found)) throw new Error(found.errors[0]?.message);
  return found.operation;
}

describe('a field is refused with all scopes but its own, and allowed with only its own', () => {
  test.each(ROOT_FIELDS.map(field => [nameOf(field), field] as const))('%s', async (name, field) => {
    const required = SCOPE_OF[name] ?? null;
    if (required === null) {
      const token = await gateway.addToken(gateway.tenant, { scopes: ['bots:write'] });
      expect([undefined, 'NOT_FOUND']).toContain(codeOf(await run(field, token)));
      return;
    }
    const all = [required].flat();
    for (const missing of all) {
      const others = SCOPES.filter(scope => scope !== missing);
      const refused = await run(field, await gateway.addToken(gateway.tenant, { scopes: others }));
      expect(refused.errors).toHaveLength(1);
      expect(refused.errors?.[0]?.extensions).toEqual({
        code: 'INSUFFICIENT_SCOPE',
        details: { required: all, granted: others },
      });
    }
    const allowed = await run(field, await gateway.addToken(gateway.tenant, { scopes: all }));
    expect(allowed.errors?.map(({ extensions }) => extensions.code) ?? []).not.toContain('INSUFFICIENT_SCOPE');
  });
});
