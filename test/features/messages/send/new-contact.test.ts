import { afterAll, beforeAll, expect, test } from 'vitest';
import { isEventPattern } from '../../../../src/core/events.ts';
import { dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';

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

test('names of Object.prototype are rejected as event types', () => {
  for (const pattern of ['constructor', 'toString', 'toString.*', '__proto__.*'])
    expect(isEventPattern(pattern)).toBe(false);
});
