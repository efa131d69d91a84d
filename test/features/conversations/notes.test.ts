import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
});
afterAll(() => gateway.stop());

const ask = (harness: Harness, document: string, variables: object = {}) =>
  gateway.graphql(document, variables, harness.tenant.token);
const CREATE = `mutation ($input: CreateNoteInput!) { createNote(input: $input) {
  note { databaseId body author { kind displayName } contact { databaseId } conversation { databaseId } } userErrors { code path } } }`;
const create = async (harness: Harness, input: object) => (await ask(harness, CREATE, { input })).data.createNote;
const person = async (harness: Harness) => {
  await harness.write({ from: '14155550101', text: 'Hello' });
  const [row] = await harness.query<{ id: string; contact_id: string }>(
    'select id, contact_id from conversations where tenant_id = $1',
  );
  if (!row) throw new Error('There is no conversation.');
  return row;
};

test('notes are about a contact or a conversation, with their author, and are listed at both', async () => {
  const harness = await harnessFor(gateway);
  const { id, contact_id: contactId } = await person(harness);
  const about = await create(harness, { conversationId: id, body: ' Wants a refund ' });
  expect(about).toMatchObject({
    note: { body: 'Wants a refund', author: { kind: 'TOKEN' }, conversation: { databaseId: id } },
    userErrors: [],
  });
  expect((await create(harness, { contactId, body: 'Likes tea' })).note.conversation).toBeNull();
  const shown = dataOf(
    await ask(
      harness,
      'query ($id: ID!) { conversation(id: $id) { notes { nodes { body } } contact { notes { nodes { body } } } } }',
      { id },
    ),
  ).conversation;
  expect(shown).toEqual({
    notes: { nodes: [{ body: 'Wants a refund' }] },
    contact: { notes: { nodes: [{ body: 'Likes tea' }, { body: 'Wants a refund' }] } },
  });
  const noteId = about.note.databaseId;
  const changed = 'mutation ($input: UpdateNoteInput!) { updateNote(input: $input) { note { body } } }';
  expect(dataOf(await ask(harness, changed, { input: { id: noteId, body: 'Got it' } })).updateNote.note.body).toBe(
    'Got it',
  );
  dataOf(await ask(harness, `mutation { deleteNote(input: { id: "${noteId}" }) { deletedId } }`));
  expect(dataOf(await ask(harness, 'query ($id: ID!) { note(id: $id) { body } }', { id: noteId }))).toEqual({
    note: null,
  });
});

test('a note needs a text, and a contact or conversation of the account', async () => {
  const harness = await harnessFor(gateway);
  const other = await harnessFor(gateway);
  const { id, contact_id: contactId } = await person(other);
  expect((await create(harness, { body: 'Text' })).userErrors).toEqual([{ code: 'REQUIRED', path: ['contactId'] }]);
  expect((await create(harness, { contactId, body: ' ' })).userErrors).toEqual([
    { code: 'REQUIRED', path: ['body'] },
    { code: 'REFERENCE_NOT_FOUND', path: ['contactId'] },
  ]);
  expect((await create(harness, { contactId, body: 'Text' })).userErrors).toEqual([
    { code: 'REFERENCE_NOT_FOUND', path: ['contactId'] },
  ]);
  expect((await create(harness, { conversationId: id, body: 'Text' })).userErrors).toEqual([
    { code: 'REFERENCE_NOT_FOUND', path: ['conversationId'] },
  ]);
});

test('notes go with an erased person', async () => {
  const harness = await harnessFor(gateway);
  const { contact_id: contactId } = await person(harness);
  await create(harness, { contactId, body: 'Likes tea' });
  await fetch(`${gateway.url}/api/v2/contacts/${contactId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${harness.tenant.token}` },
  });
  expect(await harness.query('select 1 from notes where tenant_id = $1')).toEqual([]);
});
