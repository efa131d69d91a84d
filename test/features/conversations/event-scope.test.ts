import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, dataOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const EVENTS = '{ events(filter: { types: [CONVERSATION_UPDATED] }) { nodes { type } } }';

test('events of conversations need the scope that conversations need, in lists and for webhook endpoints', async () => {
  const { tenant } = gateway;
  gateway.emulator.inbound({ from: newPhone(), text: 'Hi', phoneNumberId: tenant.phoneNumberId });
  const id = await eventually(async () => {
    const [first] = dataOf(await gateway.graphql('{ conversations { nodes { id } } }')).conversations.nodes;
    return String(first.id);
  });
  dataOf(await gateway.mutate('updateConversation', { id, status: 'CLOSED' }));
  const messages = await gateway.addToken(tenant, { scopes: ['messages:read', 'webhooks:write'] });
  const conversations = await gateway.addToken(tenant, { scopes: ['conversations:read', 'webhooks:write'] });
  expect(codeOf(await gateway.graphql(EVENTS, {}, messages))).toBe('INSUFFICIENT_SCOPE');
  await eventually(async () =>
    expect(dataOf(await gateway.graphql(EVENTS, {}, conversations)).events.nodes).toEqual([
      { type: 'CONVERSATION_UPDATED' },
    ]),
  );
  const endpoint = { url: 'https://example.com/hook', events: ['conversation.updated'] };
  const select = 'webhookEndpoint { id }';
  expect(codeOf(await gateway.mutate('createWebhookEndpoint', endpoint, select, messages))).toBe('INSUFFICIENT_SCOPE');
  expect(codeOf(await gateway.mutate('createWebhookEndpoint', endpoint, select, conversations))).toBeUndefined();
});
