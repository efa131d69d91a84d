import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  // A 'delivered' that overtakes 'sent' could be the answer to a send that waits.
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
});
afterAll(() => gateway.stop());

const SHOWN = `message { databaseId status type previewText content {
  ... on LocationContent { latitude longitude name address }
  ... on ContactsContent { cards { name phones emails company } } } }`;
const send = (content: object) =>
  gateway.mutate('sendMessage', { to: { phone: newPhone() }, content, waitForAcceptance: true }, SHOWN);
const lastSent = () => gateway.emulator.sent({ limit: 1 }).messages.at(-1);

test('a location is sent as the network takes it, and shown as it was given', async () => {
  const location = { latitude: 38.7, longitude: -9.14, name: 'Lisbon', address: 'Rua Augusta' };
  const { message } = payloadOf(await send({ location }));
  expect(message).toMatchObject({ status: 'SENT', type: 'LOCATION', previewText: 'Lisbon', content: location });
  expect(lastSent()).toMatchObject({ type: 'location', content: location });
});

test('contact cards are sent as the network takes them, and shown as they were given', async () => {
  const cards = [
    { name: 'Ana Silva', phones: ['+14155550302'], emails: ['ana@example.com'], company: 'Silva Flowers' },
    { name: 'Bo', phones: [] },
  ];
  const { message } = payloadOf(await send({ contacts: cards }));
  expect(message).toMatchObject({
    status: 'SENT',
    type: 'CONTACTS',
    previewText: 'Ana Silva, Bo',
    content: { cards: [cards[0], { name: 'Bo', phones: [], emails: [], company: null }] },
  });
  expect(lastSent()).toMatchObject({ type: 'contacts' });
});

test('faults are reported by field, and nothing is stored', async () => {
  const count = async () => dataOf(await gateway.graphql('{ messages { totalCount } }')).messages.totalCount;
  const before = await count();
  expect(Object.keys(faultsOf(await send({ location: { latitude: 91, longitude: -181 } })))).toEqual([
    'content.location.latitude',
    'content.location.longitude',
  ]);
  expect(Object.keys(faultsOf(await send({ contacts: [] })))).toEqual(['content.contacts']);
  expect(Object.keys(faultsOf(await send({ contacts: [{ name: ' ', phones: ['x'.repeat(256)] }] })))).toEqual([
    'content.contacts.0.name',
    'content.contacts.0.phones',
  ]);
  expect(await count()).toBe(before);
});
