import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fixture, type Owner, startFixture } from '../features/bots/fixture.ts';
import { follow, seen } from '../features/events/subscriber.ts';
import { type Receiver, startReceiver } from '../features/webhooks/receiver.ts';
import { createEndpoint, LOOPBACK } from '../features/webhooks/setup.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

/** Open transactions delay no events unless they have written to the log. */

let fixture: Fixture;
let owner: Owner;
let receiver: Receiver;
let foreign: TestDatabase;
const open: pg.Client[] = [];
beforeAll(async () => {
  [fixture, receiver, foreign] = await Promise.all([
    startFixture({ env: LOOPBACK }),
    startReceiver(),
    createTestDatabase(),
  ]);
  owner = await fixture.tenant();
  await leaveOpen(foreign.url);
  await leaveOpen(fixture.gateway.database.url);
});
afterAll(async () => {
  await Promise.all(open.map(client => client.end()));
  await fixture.gateway.stop();
  await receiver.stop();
  await foreign.drop();
});

/** A transaction that has written and neither commits nor rolls back. */
async function leaveOpen(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  open.push(client);
  await client.query('create table if not exists left_open (n int)');
  await client.query('begin; insert into left_open values (1)');
}

test('open transactions in this and another database delay neither subscriptions, webhooks, bots nor the outcome of a send', async () => {
  const { gateway } = fixture;
  await createEndpoint(gateway, { url: `${receiver.url}/told`, events: ['message.received'] }, owner);
  await owner.bot({ reply: { text: { text: 'At once' } } });
  const subscriber = await follow(gateway.url, owner.token, { types: ['message.received'] });
  const person = newPhone();
  await owner.hears(person, 'Hello?');
  await seen(subscriber, 1);
  await eventually(() => expect(receiver.at('/told')).toHaveLength(1));
  expect(await owner.answers(person, 1)).toEqual(['At once']);

  const late = await follow(gateway.url, owner.token, {
    types: ['message.received'],
    after: subscriber.events[0]?.cursor,
  });
  await owner.hears(newPhone(), 'And I?');
  await seen(late, 1);
  await late.stop();
  await subscriber.stop();

  const sent = await owner.ask(
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "Yes" } }, waitForAcceptance: true }) { message { status } userErrors { code message path } } }',
    { to: person },
  );
  expect(sent.data).toEqual({ sendMessage: { message: { status: 'SENT' }, userErrors: [] } });
});

test('a webhook endpoint created while transactions are open gets no earlier events', async () => {
  const { gateway } = fixture;
  const group = (name: string) =>
    owner.ask('mutation ($name: String!) { createContactGroup(input: { name: $name }) { contactGroup { id } } }', {
      name,
    });
  await group('before');
  await createEndpoint(gateway, { url: `${receiver.url}/new`, events: ['group.created'] }, owner);
  await group('after');
  await eventually(() => expect(receiver.at('/new').map(({ body }) => body.data.group.name)).toEqual(['after']));
});
