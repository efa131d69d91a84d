import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { findPersonalData } from '../../../support/personal-data.ts';
import { markersOf, type Person, type PrivacyFixture, startPrivacyFixture, WILHELMINE } from './person.ts';

let fixture: PrivacyFixture;
beforeAll(async () => {
  fixture = await startPrivacyFixture();
});
afterAll(() => fixture.stop());

let last = 60_000;
/** A person without test data. */
function somebody(): Person {
  last += 1;
  const digits = `49151770${last}`;
  return {
    ...WILHELMINE,
    phone: `+${digits}`,
    digits,
    userId: `DE.Late${last}`,
    word: `Geheimnis${last}x`,
    firstName: `Vor${last}x`,
    lastName: `Nach${last}x`,
    email: `l${last}x@zaun.example`,
  };
}
const create = async ({ phone, firstName, email }: Person, more: object = {}): Promise<number> => {
  const {
    createContact: { contact: createContact },
  } = await fixture.ask(
    'mutation ($input: CreateContactInput!) { createContact(input: $input) { contact { databaseId isOptedOut } } }',
    { input: { phone, firstName, email, ...more } },
  );
  return Number(createContact.databaseId);
};
const erase = (id: number) =>
  fixture.ask('mutation ($id: ID!) { deleteContact(input: { id: $id }) { deletedId } }', { id: String(id) });
const scan = (person: Person) => findPersonalData(fixture.gateway.database, markersOf(person));
const seconds = (ago: number): string => String(Math.floor(Date.now() / 1_000) - ago);
const wamid = (digits: string, salt: string): string =>
  `wamid.${Buffer.from(`\x1c\x18\x0d${digits}\x15\x02\x00${salt}`).toString('base64')}`;
const isOptedOut = async (phone: string): Promise<boolean | undefined> => {
  const { contacts } = await fixture.ask('query ($s: String) { contacts(search: $s) { nodes { isOptedOut } } }', {
    s: phone,
  });
  return contacts.nodes[0]?.isOptedOut;
};

test('late webhooks from before an erasure restore nothing', async () => {
  const person = somebody();
  const { digits, userId, word, firstName } = person;
  await erase(await create(person));
  const contacts = [{ profile: { name: firstName }, wa_id: digits, user_id: userId }];
  await fixture.webhook({
    contacts,
    messages: [{ from: digits, id: wamid(digits, 'old'), timestamp: seconds(600), type: 'text', text: { body: word } }],
  });
  await fixture.webhook({
    contacts,
    statuses: [
      { id: wamid(digits, 'sent'), status: 'read', timestamp: String(Number(seconds(0)) + 5), recipient_id: digits },
    ],
  });
  await fixture.settled();
  expect(await scan(person)).toEqual([]);
  expect(await isOptedOut(person.phone)).toBeUndefined();
  // What is left of them tells nothing that is not handled.
  expect(await fixture.gateway.database.query('select field, reason, raw from network_changes')).toEqual([]);
});

test('a message written after the erasure creates a new contact', async () => {
  const person = somebody();
  await erase(await create(person));
  const { digits, word, firstName } = person;
  const contacts = [{ profile: { name: firstName }, wa_id: digits }];
  const text = {
    from: digits,
    id: wamid(digits, 'new'),
    timestamp: String(Number(seconds(0)) + 5),
    type: 'text',
    text: { body: word },
  };
  await fixture.webhook({ contacts, messages: [text] });
  await fixture.settled();
  await eventually(async () => expect(await isOptedOut(person.phone)).toBe(false));
});

test('an opt-out survives the erasure, whether the contact is created again by API, import, send or message, until the person opts in', async () => {
  const [created, imported, sent, wrote] = [somebody(), somebody(), somebody(), somebody()];
  for (const person of [created, imported, sent, wrote]) await erase(await create(person, { isOptedOut: true }));
  await create(created);
  expect(await isOptedOut(created.phone)).toBe(true);
  const batch = await fixture.ask(
    'mutation ($input: CreateContactsInput!) { createContacts(input: $input) { results { contact { isOptedOut } } } }',
    { input: { contacts: [{ phone: imported.phone }, { phone: '+4915177099999' }] } },
  );
  expect(batch.createContacts.results).toEqual([{ contact: { isOptedOut: true } }, { contact: { isOptedOut: false } }]);
  const refused = await fixture.gateway.graphql(
    'mutation ($to: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: "hello" } } }) { message { databaseId } userErrors { code message path } } }',
    { to: sent.phone },
  );
  expect(codeOf(refused)).toBe('CONTACT_OPTED_OUT');
  const write = async (body: string, salt: string) => {
    const at = String(Number(seconds(0)) + 5);
    const message = { from: wrote.digits, id: wamid(wrote.digits, salt), timestamp: at, type: 'text', text: { body } };
    await fixture.webhook({ contacts: [{ profile: { name: 'Again' }, wa_id: wrote.digits }], messages: [message] });
    await fixture.settled();
  };
  await write('hello', 'one');
  await eventually(async () => expect(await isOptedOut(wrote.phone)).toBe(true));
  await write('start', 'two');
  await eventually(async () => expect(await isOptedOut(wrote.phone)).toBe(false));
  await write('thanks', 'three');
  expect(await isOptedOut(wrote.phone)).toBe(false);
});
