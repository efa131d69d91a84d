import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { webhookConnections: 1 } } });
});
afterAll(() => gateway.stop());

const ACTOR = 'actor { kind displayName actor { __typename } }';
const TOKEN = { kind: 'TOKEN', displayName: 'test', actor: { __typename: 'AccessToken' } };

/** The events of a type, once there are so many. */
const eventsOf = (type: string, count: number, selection: string) =>
  eventually(async () => {
    const query = `query ($types: [EventType!]) { events(last: 100, filter: { types: $types }) { nodes { ${ACTOR} ${selection} } } }`;
    const { nodes } = dataOf(await gateway.graphql(query, { types: [type] })).events;
    expect(nodes).toHaveLength(count);
    return nodes;
  });

test('events of a message name its sender, and their conversation; those of people name nobody', async () => {
  const { phone } = await seedOf(gateway).contact();
  const sent = await gateway.mutate(
    'sendMessage',
    { to: { phone }, content: { text: { body: 'Hello' } }, waitForAcceptance: true },
    'message { id conversation { id } }',
  );
  const { id, conversation } = payloadOf(sent).message;
  const about = '... on MessageEvent { message { id } conversation { id } }';
  for (const type of ['MESSAGE_QUEUED', 'MESSAGE_SENT', 'MESSAGE_READ'])
    expect(await eventsOf(type, 1, about)).toEqual([{ actor: TOKEN, message: { id }, conversation }]);
  gateway.emulator.inbound({ phoneNumberId: gateway.tenant.phoneNumberId, from: phone.slice(1), text: 'Hi' });
  expect(await eventsOf('MESSAGE_RECEIVED', 1, '... on MessageEvent { conversation { id } }')).toEqual([
    { actor: null, conversation },
  ]);
});

test('events of consent and erasure have their entry and receipt, and the author of the erasure', async () => {
  const { globalId } = await seedOf(gateway).contact();
  dataOf(await gateway.mutate('updateContact', { id: globalId, isOptedOut: true }));
  const entry = '... on DataEvent { contact { id } consentEntry { state author { kind } } receipt { id } }';
  expect(await eventsOf('CONSENT_CHANGED', 1, entry)).toEqual([
    {
      actor: null,
      contact: { id: globalId },
      consentEntry: { state: 'OPTED_OUT', author: { kind: 'TOKEN' } },
      receipt: null,
    },
  ]);
  dataOf(await gateway.mutate('deleteContact', { id: globalId }));
  const receipt = '... on DataEvent { consentEntry { state } receipt { author { kind displayName } } }';
  expect(await eventsOf('CONTACT_ERASED', 1, receipt)).toEqual([
    { actor: TOKEN, consentEntry: null, receipt: { author: { kind: 'TOKEN', displayName: 'test' } } },
  ]);
});
