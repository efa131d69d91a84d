import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('a person known only by a user id can be answered', async () => {
  gateway.emulator.inbound({ userId: 'BR.1349', text: 'Oi', phoneNumberId: gateway.tenant.phoneNumberId });
  const contact = await eventually(async () => {
    const { data } = await gateway.graphql('{ contacts { nodes { id phone serviceWindow { isOpen } } } }');
    expect(data.contacts.nodes).toMatchObject([{ phone: null, serviceWindow: { isOpen: true } }]);
    return data.contacts.nodes[0];
  });
  const mutation =
    'mutation ($to: ID!) { sendMessage(input: { to: { contactId: $to }, content: { text: { body: "Oi!" } } }) { message { databaseId } userErrors { code message path } } }';
  const { data } = await gateway.graphql(mutation, { to: contact.id });
  await eventually(async () => {
    const answer = await gateway.graphql('query ($id: ID!) { message(id: $id) { status } }', {
      id: data.sendMessage.message.databaseId,
    });
    expect(answer.data.message.status).toBe('READ');
  });
});
