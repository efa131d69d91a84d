import { afterAll, beforeAll, expect, test } from 'vitest';
import { addStaff } from '../../../../src/features/tenancy/staff/add.ts';
import { dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../../support/gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    emulator: { faults: { webhookConnections: 1 } },
    templates: [
      { name: 'order', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'It is on its way.' }] },
    ],
  });
  dataOf(await gateway.mutate('syncTemplates', {}));
});
afterAll(() => gateway.stop());

const SENT_BY = 'sentBy { kind displayName actor { __typename id displayName } }';
const inputTo = (phone: string, more: object = {}) => ({
  to: { phone },
  content: { text: { body: 'Hello' } },
  ...more,
});
const messageOf = async (id: string, selection: string, token?: string) =>
  dataOf(await gateway.graphql(`query ($id: ID!) { message(id: $id) { ${selection} } }`, { id }, token)).message;
const payloads = (phone: string) =>
  gateway.database.query<{ type: string; payload: Record<string, Record<string, unknown>> }>(
    `select e.type, e.payload from events e join contacts c on c.tenant_id = e.tenant_id and c.id = e.contact_id
     where e.tenant_id = $1 and c.phone = $2 and e.type like 'message.%' order by e.seq`,
    [gateway.tenant.id, phone],
  );
const sessionOf = async (email: string): Promise<string> =>
  payloadOf(
    await gateway.mutate('createStaffSession', { staffMember: { email }, documentsOnly: false, origins: [] }, 'token'),
  ).token;

test('a message sent with a token shows the token as its sender, in GraphQL, REST and events', async () => {
  const phone = newPhone();
  const { message } = payloadOf(await gateway.mutate('sendMessage', inputTo(phone), `message { id ${SENT_BY} }`));
  const actor = { __typename: 'AccessToken', id: expect.any(String), displayName: 'test' };
  expect(message.sentBy).toEqual({ kind: 'TOKEN', displayName: 'test', actor });
  const rest = await gateway.rest('POST', '/messages/text', { phone, message: 'Hello' });
  const { data } = (await rest.json()) as { data: { chat_message_id: string } };
  expect((await messageOf(data.chat_message_id, SENT_BY)).sentBy).toEqual(message.sentBy);
  expect(new Set((await payloads(phone)).map(({ payload }) => JSON.stringify(payload['message']?.['author'])))).toEqual(
    new Set([JSON.stringify({ id: await tokenId(), kind: 'token', name: 'test' })]),
  );
});

const tokenId = async (): Promise<number> =>
  Number(dataOf(await gateway.graphql('{ viewer { token { databaseId } } }')).viewer.token.databaseId);

test('a message sent in a staff session keeps the name of its sender, also after a change of name', async () => {
  const email = 'bo@example.com';
  const staff = await gateway.gateway.resources.db.transaction(trx =>
    addStaff(trx, gateway.tenant.id, { name: 'Bo Lee', email }),
  );
  const sent = await gateway.mutate(
    'sendMessage',
    inputTo(newPhone()),
    `message { id ${SENT_BY} }`,
    await sessionOf(email),
  );
  const { message } = payloadOf(sent);
  expect(message.sentBy).toMatchObject({ kind: 'STAFF', displayName: 'Bo Lee', actor: { __typename: 'StaffMember' } });
  await gateway.database.query("update staff set name = 'Bo Chen' where id = $1", [staff.id]);
  expect((await messageOf(message.id, SENT_BY)).sentBy).toMatchObject({
    displayName: 'Bo Lee',
    actor: { displayName: 'Bo Chen' },
  });
});

test('an actor is null without the scope to read it; kind and name stay', async () => {
  const { message } = payloadOf(await gateway.mutate('sendMessage', inputTo(newPhone()), 'message { id }'));
  const reader = await gateway.addToken(gateway.tenant, { scopes: ['messages:read'] });
  expect((await messageOf(message.id, SENT_BY, reader)).sentBy).toEqual({
    kind: 'TOKEN',
    displayName: 'test',
    actor: null,
  });
});

test('a message of a person has no sender, and an unfilled echoId, template and retryOf are null', async () => {
  const wamid = gateway.emulator.inbound({
    phoneNumberId: gateway.tenant.phoneNumberId,
    from: newPhone().slice(1),
    text: 'Hi',
  });
  await expect
    .poll(
      async () =>
        (
          await gateway.graphql(
            `{ message: messageByIdentifier(identifier: { wamid: "${wamid}" }) { sentBy { kind } echoId retryOf { id } template { id } } }`,
          )
        ).data,
      {
        timeout: 60_000,
      },
    )
    .toEqual({ message: { sentBy: null, echoId: null, retryOf: null, template: null } });
});

test('senders and actors of a page take one statement a kind', async () => {
  const phone = newPhone();
  for (let count = 0; count < 5; count += 1) dataOf(await gateway.mutate('sendMessage', inputTo(phone)));
  gateway.statements.length = 0;
  const list = await gateway.graphql(
    `{ messages(first: 5, filter: { direction: { eq: OUTBOUND } }) { nodes { ${SENT_BY} } } }`,
  );
  expect(dataOf(list).messages.nodes).toHaveLength(5);
  // Without those of authentication: the look-up, and the periodic write of times of last use.
  expect(
    gateway.statements.filter(
      text => text.includes('access_tokens') && !/token_hash|last_used_at = now\(\)/.test(text),
    ),
  ).toHaveLength(1);
});

test("the client's key comes back with the message and its events, and may repeat", async () => {
  const phone = newPhone();
  for (let count = 0; count < 2; count += 1) {
    const sent = await gateway.mutate('sendMessage', inputTo(phone, { echoId: 'draft-1' }), 'message { echoId }');
    expect(payloadOf(sent).message).toEqual({ echoId: 'draft-1' });
  }
  const echo = { echoId: 'draft-1', message: { echoId: 'draft-1' } };
  await eventually(async () => {
    const { events } = dataOf(
      await gateway.graphql(
        '{ events(last: 50, filter: { types: [MESSAGE_QUEUED] }) { nodes { ... on MessageEvent { echoId message { echoId } } } } }',
      ),
    );
    expect(events.nodes.filter(({ echoId }: { echoId: string | null }) => echoId !== null)).toEqual([echo, echo]);
  });
  expect(faultsOf(await gateway.mutate('sendMessage', inputTo(phone, { echoId: 'x'.repeat(256) })))).toEqual({
    echoId: ['May have at most 255 characters.'],
  });
});

test('a message of a template shows the template, in lists too', async () => {
  const phone = newPhone();
  const content = { template: { name: 'order', language: 'en' } };
  const { message } = payloadOf(
    await gateway.mutate('sendMessage', inputTo(phone, { content }), 'message { id template { name } }'),
  );
  expect(message.template).toEqual({ name: 'order' });
  const list = await gateway.graphql(
    'query ($id: ID!) { messages(filter: { id: { eq: $id } }) { nodes { template { name language } } } }',
    { id: message.id },
  );
  expect(dataOf(list).messages.nodes).toEqual([{ template: { name: 'order', language: 'en' } }]);
});

test('every event of a message names its contact with the field names of REST', async () => {
  const { phone, id } = await seedOf(gateway).contact({ firstName: 'Ana', lastName: 'Silva' });
  await gateway.mutate('sendMessage', inputTo(phone, { waitForAcceptance: true }));
  gateway.emulator.inbound({ phoneNumberId: gateway.tenant.phoneNumberId, from: phone.slice(1), text: 'Hi' });
  await expect
    .poll(async () => new Set((await payloads(phone)).map(({ type }) => type)), { timeout: 60_000 })
    .toEqual(new Set(['message.queued', 'message.sent', 'message.delivered', 'message.read', 'message.received']));
  const { data } = (await (await gateway.rest('GET', `/contacts/${id}`)).json()) as { data: Record<string, unknown> };
  const { firstname, lastname } = data;
  for (const { type, payload } of await payloads(phone))
    expect({ type, contact: payload['contact'] }).toEqual({
      type,
      contact: { id, firstname, lastname, phone: data['phone'] },
    });
});
