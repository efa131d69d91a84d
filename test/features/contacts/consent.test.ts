import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { optedOutOf } from '../../../src/features/contacts/consent/consent.ts';
import { recordConsent } from '../../../src/features/contacts/consent/record.ts';
import { codeOf, dataOf, userErrorsOf } from '../../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { postWebhook } from '../../support/network-webhook.ts';
import { seedOf } from '../../support/seed.ts';

let gateway: TestGateway;
const body = { type: 'BODY', text: 'Hi' };
beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      { name: 'sale', language: 'en', category: 'MARKETING', components: [body] },
      { name: 'order', language: 'en', category: 'UTILITY', components: [body] },
    ],
  });
  await gateway.mutate('syncTemplates', {});
  await eventually(async () =>
    expect((await gateway.graphql('{ templates { nodes { name } } }')).data.templates.nodes.length).toBeGreaterThan(1),
  );
});
afterAll(() => gateway.stop());

const create = async (phone: string, fields = {}): Promise<number> =>
  (await seedOf(gateway).contact({ phone, ...fields })).id;
const send = (to: string, name: string) =>
  gateway.graphql(
    'mutation ($to: String!, $name: String!) { sendMessage(input: { to: { phone: $to }, content: { template: { name: $name, language: "en" } } }) { message { databaseId } userErrors { code message path ... on ConsentError { category optedOutAt entry { category state evidence } } } } }',
    { to, name },
  );
const say = (contactId: number, category: 'all' | 'marketing', state: 'opted_in' | 'opted_out', evidence?: string) =>
  gateway.gateway.resources.db.transaction(trx =>
    recordConsent(trx, gateway.tenant.id, [
      { contactId, category, state, source: 'network', evidence, occurredAt: new Date().toISOString() },
    ]),
  );

test('a contact that opted out of marketing gets no marketing templates, and the error names the category and the entry; utility templates are sent', async () => {
  const phone = '+4915155600001';
  const id = await create(phone);
  await say(id, 'marketing', 'opted_out', 'letter of 3 May');
  const refused = await send(phone, 'sale');
  expect(userErrorsOf(refused)).toMatchObject([
    {
      code: 'CONTACT_OPTED_OUT',
      category: 'MARKETING',
      optedOutAt: expect.any(String),
      entry: { category: 'MARKETING', state: 'OPTED_OUT', evidence: 'letter of 3 May' },
    },
  ]);
  dataOf(await send(phone, 'order'));
  await say(id, 'marketing', 'opted_in');
  dataOf(await send(phone, 'sale'));
});

test('an opt-out of all covers every category, and only an opt-in to all lifts it, together with all others', async () => {
  const phone = '+4915155600002';
  const id = await create(phone);
  await say(id, 'marketing', 'opted_out');
  await say(id, 'all', 'opted_out');
  await say(id, 'marketing', 'opted_in');
  expect([codeOf(await send(phone, 'sale')), codeOf(await send(phone, 'order'))]).toEqual([
    'CONTACT_OPTED_OUT',
    'CONTACT_OPTED_OUT',
  ]);
  await say(id, 'marketing', 'opted_out');
  await say(id, 'all', 'opted_in');
  dataOf(await send(phone, 'sale'));
});

test('a refusal by the network (131050) opts out of marketing', async () => {
  const phone = '+4915155600004';
  const id = await create(phone);
  gateway.emulator.setFaults({ next: [{ asyncErrorCode: 131050, to: phone }] });
  dataOf(await send(phone, 'sale'));
  await eventually(async () =>
    expect(
      await gateway.database.query('select category, state, source from consent_entries where contact_id = $1', [id]),
    ).toEqual([{ category: 'marketing', state: 'opted_out', source: 'network' }]),
  );
  expect(codeOf(await send(phone, 'sale'))).toBe('CONTACT_OPTED_OUT');
  dataOf(await send(phone, 'order'));
});

test('an opt-out set by an API is recorded with its author, and repeated entries only once', async () => {
  const id = await create('+4915155600003', { isOptedOut: true });
  dataOf(await gateway.mutate('updateContact', { id: String(id), isOptedOut: false }));
  const occurredAt = new Date().toISOString();
  const entry = { contactId: id, category: 'marketing', state: 'opted_out', source: 'network', occurredAt } as const;
  for (let time = 0; time < 2; time += 1)
    await gateway.gateway.resources.db.transaction(trx =>
      recordConsent(trx, gateway.tenant.id, [{ ...entry, evidence: 'wamid.1' }]),
    );
  const entries = await gateway.database.query(
    `select category, state, source, evidence, author->>'kind' as author from consent_entries where contact_id = $1 order by id`,
    [id],
  );
  expect(entries).toEqual([
    { category: 'all', state: 'opted_out', source: 'api', evidence: null, author: 'token' },
    { category: 'all', state: 'opted_in', source: 'api', evidence: null, author: 'token' },
    { category: 'marketing', state: 'opted_out', source: 'network', evidence: 'wamid.1', author: null },
  ]);
});

test('late entries do not override later consent', () => {
  const entry = (id: number, state: 'opted_in' | 'opted_out', second: number) => ({
    id,
    state,
    occurred_at: `2026-01-01T00:00:0${second}.000Z`,
  });
  expect(optedOutOf({ all: entry(1, 'opted_out', 1), marketing: entry(2, 'opted_in', 2) })).toEqual([
    'all',
    'marketing',
    'utility',
  ]);
  expect(optedOutOf({ all: entry(2, 'opted_in', 1), marketing: entry(1, 'opted_out', 2) })).toEqual(['marketing']);
  expect(optedOutOf({ all: entry(1, 'opted_in', 3), marketing: entry(2, 'opted_out', 2) })).toEqual([]);
});

test('an opt-out keyword, typed or as a button, is recorded with its message as evidence and its source', async () => {
  const write = (message: object) => gateway.emulator.inbound(message as never);
  const typed = write({ from: '+4915155600021', type: 'text', text: 'Stop' });
  const tapped = write({ from: '+4915155600022', type: 'button', text: 'STOP' });
  await eventually(async () =>
    expect(
      await gateway.database.query(
        `select c.phone, e.category, e.state, e.source, e.evidence from consent_entries e join contacts c on c.id = e.contact_id
         where c.phone in ('+4915155600021', '+4915155600022') order by c.phone`,
      ),
    ).toEqual([
      { phone: '+4915155600021', category: 'all', state: 'opted_out', source: 'keyword', evidence: typed },
      { phone: '+4915155600022', category: 'all', state: 'opted_out', source: 'button', evidence: tapped },
    ]),
  );
});

describe('keywords that arrive out of order', () => {
  const post = async (from: string, text: string, secondsAgo: number): Promise<void> => {
    const timestamp = String(Math.floor(Date.now() / 1_000) - secondsAgo);
    const message = {
      from: from.slice(1),
      id: `wamid.${from}.${text}.${secondsAgo}`,
      timestamp,
      type: 'text',
      text: { body: text },
    };
    const contacts = [{ profile: { name: 'Ana' }, wa_id: from.slice(1) }];
    await postWebhook(gateway, gateway.tenant, { contacts, messages: [message] });
    await eventually(async () => expect(await gateway.database.query('select 1 from waiting_webhooks')).toEqual([]));
  };
  const isOptedOut = async (phone: string): Promise<boolean> => {
    const { contacts } = dataOf(
      await gateway.graphql('query ($s: String) { contacts(search: $s) { nodes { isOptedOut } } }', { s: phone }),
    );
    return contacts.nodes[0].isOptedOut;
  };

  test('a START sent an hour before a STOP does not undo it', async () => {
    const phone = '+4915155600031';
    await post(phone, 'STOP', 0);
    await post(phone, 'START', 3_600);
    expect(await isOptedOut(phone)).toBe(true);
    await post(phone, 'START', 0);
    expect(await isOptedOut(phone)).toBe(false);
  });

  test('a STOP sent an hour before a START does not undo it', async () => {
    const phone = '+4915155600032';
    await post(phone, 'START', 0);
    await post(phone, 'STOP', 3_600);
    expect(await isOptedOut(phone)).toBe(false);
  });

  test('within one second of the network, the keyword that arrives last applies', async () => {
    const phone = '+4915155600033';
    for (const [word, expected] of [
      ['START', false],
      ['STOP', true],
    ] as const) {
      await post(phone, word, 60);
      expect(await isOptedOut(phone)).toBe(expected);
    }
  });
});
