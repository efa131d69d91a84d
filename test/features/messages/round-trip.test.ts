import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('a text to a person who wrote becomes read, and the window is open', async () => {
  gateway.emulator.inbound({
    from: '+14155550123',
    text: 'Hi',
    profileName: 'Ana Silva',
    phoneNumberId: gateway.tenant.phoneNumberId,
  });
  const contact = await eventually(async () => {
    const { data } = await gateway.graphql(
      '{ contacts(search: "4155550123") { nodes { databaseId firstName lastName phone serviceWindow { isOpen } } } }',
    );
    expect(data.contacts.nodes).toMatchObject([
      { firstName: 'Ana', lastName: 'Silva', phone: '+14155550123', serviceWindow: { isOpen: true } },
    ]);
    return data.contacts.nodes[0];
  });
  const sent = await gateway.graphql(
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Hello @{contact_first_name}" } }, waitForAcceptance: true }) { message { databaseId status wamid text } userErrors { code message path } } }',
    { to: contact.phone },
  );
  expect(sent.data.sendMessage.message).toMatchObject({
    status: expect.stringMatching(/SENT|DELIVERED/),
    text: 'Hello Ana',
    wamid: expect.stringMatching(/^wamid\./),
  });
  await eventually(async () => {
    const { data } = await gateway.graphql('query ($id: ID!) { message(id: $id) { status deliveredAt readAt } }', {
      id: sent.data.sendMessage.message.databaseId,
    });
    expect(data.message).toMatchObject({ status: 'READ', deliveredAt: expect.any(String), readAt: expect.any(String) });
  });
});
