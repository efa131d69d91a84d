import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, faultsOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('a contact that a send creates has every given detail', async () => {
  const contact = {
    firstName: 'Ute',
    lastName: 'Lang',
    type: 'CUSTOMER',
    email: 'ute@example.com',
    company: 'Lang KG',
    description: 'Met at the fair',
    address: 'Hauptstr. 1',
    city: 'Bonn',
    state: 'NRW',
    zip: '53111',
    country: '276',
  };
  const send =
    'mutation ($contact: ContactDetailsInput) { sendMessage(input: { to: { phone: "+4915112399901" }, content: { text: { body: "Hi" } }, contact: $contact }) { message { id } userErrors { code message path } } }';
  dataOf(await gateway.graphql(send, { contact }));
  const { contacts } = dataOf(
    await gateway.graphql(
      '{ contacts(search: "15112399901") { nodes { firstName lastName type email company description address city state zip country { numericCode } } } }',
    ),
  );
  const { country, ...rest } = contact;
  expect(contacts.nodes).toEqual([{ ...rest, country: { numericCode: Number(country) } }]);
});

test('concurrent creations of and sends to the same new numbers cause no deadlock', async () => {
  const create = 'mutation ($phone: String!) { createContact(input: { phone: $phone }) { contact { id } } }';
  const send =
    'mutation ($phone: String!) { sendMessage(input: { to: { phone: $phone }, content: { text: { body: "Hi" } } }) { message { id } userErrors { code message path } } }';
  const rounds = Array.from({ length: 60 }, (_, index) => ({ phone: `+49151124${String(index).padStart(5, '0')}` }));
  const answers = await Promise.all(
    rounds.flatMap(variables => [
      gateway.graphql(create, variables),
      gateway.graphql(send, variables),
      gateway.graphql(send, variables),
    ]),
  );
  expect(
    answers.flatMap(answer => answer.errors ?? []).filter(error => error.extensions.code !== 'VALIDATION_ERROR'),
  ).toEqual([]);
  const [row] = await gateway.database.query(
    'select u.contacts::int as counted, (select count(*)::int from contacts c where c.tenant_id = u.tenant_id) as there from tenant_usage u where tenant_id = $1',
    [gateway.tenant.id],
  );
  expect(row?.['counted']).toBe(row?.['there']);
});

describe('the e-mail address of another contact', () => {
  const email = 'taken@example.com';
  const to = () => ({ to: { phone: newPhone() }, contact: { email: email.toUpperCase() } });
  const content = { text: { body: 'Hi' } };
  beforeAll(async () => {
    const { id } = await seedOf(gateway).contact();
    await gateway.database.query('update contacts set email = $1 where id = $2', [email, id]);
  });

  test('is a fault of the send that would create a contact, beside its other faults', async () => {
    const answer = await gateway.mutate('sendMessage', { ...to(), content }, 'message { id }');
    expect(Object.keys(faultsOf(answer))).toEqual(['contact.email']);
    const both = await gateway.mutate('sendMessage', { ...to(), content: { text: { body: '' } } }, 'message { id }');
    expect(Object.keys(faultsOf(both)).sort()).toEqual(['contact.email', 'content.text.body']);
    const rest = await gateway.rest('POST', '/messages/text', {
      phone: newPhone(),
      message: 'Hi',
      contact: { email },
    });
    expect([rest.status, Object.keys((await rest.json()).error.details)]).toEqual([422, ['contact.email']]);
  });

  test.each([{ isDryRun: true }, {}, { onError: 'ROLL_BACK' }])(
    'is one of its message in a batch: %j',
    async options => {
      const messages = [{ ...to(), content }];
      const answer = await gateway.mutate(
        'sendMessages',
        { ...options, messages },
        'results { userErrors { code path } }',
      );
      expect(answer.data.sendMessages.results).toEqual([
        { userErrors: [{ code: 'TAKEN', path: ['messages', '0', 'contact', 'email'] }] },
      ]);
    },
  );

  test.each(['CONTINUE', 'ROLL_BACK'])(
    'may be one that the same batch gave to another number, with %s',
    async onError => {
      const contact = { email: `${onError}@example.com` };
      const messages = [newPhone(), newPhone()].map(phone => ({ to: { phone }, contact, content }));
      const answer = await gateway.mutate(
        'sendMessages',
        { onError, messages },
        'results { userErrors { code path } }',
      );
      expect(answer.data.sendMessages.results[1]).toEqual({
        userErrors: [{ code: 'TAKEN', path: ['messages', '1', 'contact', 'email'] }],
      });
    },
  );

  test('concurrent sends that create one contact together do not report its e-mail as taken', async () => {
    const input = { to: { phone: newPhone() }, contact: { email: 'together@example.com' }, content };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => gateway.mutate('sendMessage', input, 'message { id }')),
    );
    expect(answers.map(answer => answer.data.sendMessage.userErrors)).toEqual(answers.map(() => []));
  });
});
