import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../../src/app/schema.ts';
import { dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Harness, harnessFor } from '../messages/inbound/harness.ts';

let gateway: TestGateway;
let harness: Harness;
const ids: Record<string, string> = {};

beforeAll(async () => {
  gateway = await startGateway({ emulator: { faults: { userIds: false } } });
  harness = await harnessFor(gateway);
  await harness.write({ from: '14155550101', text: 'Hello' });
  const { staff, source, status, groups, tag } = await ask(`mutation {
    staff: createStaffMember(input: { name: "Eva", email: "eva@example.com" }) { staffMember { databaseId } }
    source: createContactSource(input: { name: "Fair" }) { contactSource { databaseId } }
    status: createContactStatus(input: { name: "New", color: "#00FF00" }) { contactStatus { databaseId } }
    groups: createContactGroup(input: { name: "Buyers" }) { contactGroup { databaseId } }
    tag: createTag(input: { name: "VIP", color: "#FF0000" }) { tag { databaseId } } }`);
  const { conversations } = await ask(
    '{ conversations { nodes { databaseId contactId lastMessage { databaseId } } } }',
  );
  const [conversation] = conversations.nodes;
  Object.assign(ids, {
    Conversation: conversation.databaseId,
    Contact: conversation.contactId,
    Message: conversation.lastMessage.databaseId,
  });
  const assigneeId = staff.staffMember.databaseId;
  await ask(
    `mutation ($contact: UpdateContactInput!, $conversation: UpdateConversationInput!, $group: AddContactsToGroupInput!) {
      updateContact(input: $contact) { userErrors { message } }
      updateConversation(input: $conversation) { userErrors { message } }
      addContactsToGroup(input: $group) { userErrors { message } } }`,
    {
      contact: {
        id: ids['Contact'],
        firstName: 'Ana',
        lastName: 'Costa',
        company: 'Costa Ltd',
        type: 'CUSTOMER',
        email: 'ana@example.com',
        city: 'Porto',
        country: 'PT',
        sourceId: source.contactSource.databaseId,
        statusId: status.contactStatus.databaseId,
        assigneeId,
      },
      conversation: { id: ids['Conversation'], assigneeId, addTagIds: [tag.tag.databaseId] },
      group: { groupId: groups.contactGroup.databaseId, contactIds: [ids['Contact']] },
    },
  );
});
afterAll(() => gateway.stop());

const ask = async (document: string, variables: object = {}) =>
  dataOf(await gateway.graphql(document, variables, harness.tenant.token));

/** The fields of a type that need no arguments, each with what it takes to select it. */
function fieldsOf(typeName: string): string[] {
  const type = schema.getType(typeName) as GraphQLObjectType;
  return Object.values(type.getFields())
    .filter(({ args }) => !args.some(isRequiredArgument))
    .map(({ name, type: of }) => {
      const named = getNamedType(of);
      if (isLeafType(named)) return name;
      return isObjectType(named) && named.name.endsWith('Connection')
        ? `${name} { totalCount }`
        : `${name} { __typename }`;
    });
}

describe('a field has in a list the value that it has elsewhere, whatever is selected beside it', () => {
  test.each([
    ['Conversation', 'conversations', 'conversation', ''],
    ['Contact', 'conversations', 'conversation', 'contact'],
    ['StaffMember', 'conversations', 'conversation', 'assignee'],
    ['Tag', 'conversations', 'conversation', 'tags'],
    ['Message', 'conversations', 'conversation', 'lastMessage'],
    ['Contact', 'contacts', 'contact', ''],
    ['StaffMember', 'contacts', 'contact', 'assignee'],
    ['ContactSource', 'contacts', 'contact', 'source'],
    ['ContactStatus', 'contacts', 'contact', 'status'],
    ['ContactGroup', 'contacts', 'contact', 'groups'],
    ['Message', 'messages', 'message', ''],
  ])('%s in %s', async (type, list, single, path) => {
    const id = ids[{ conversation: 'Conversation', contact: 'Contact', message: 'Message' }[single] ?? ''];
    const fields = fieldsOf(type);
    expect(fields.length).toBeGreaterThan(3);
    // Each field in a list of its own: a field beside it could read its columns. A few lists at a time, of which a document may have 12.
    for (let from = 0; from < fields.length; from += 5) {
      const some = fields.slice(from, from + 5).map(field => [field, path === '' ? field : `${path} { ${field} }`]);
      const selections = some.map(
        ([, selection], n) =>
          `list${n}: ${list}(first: 1) { nodes { ${selection} } } one${n}: ${single}(id: $id) { ${selection} }`,
      );
      const data = await ask(`query ($id: ID!) { ${selections.join(' ')} }`, { id });
      for (const [n, [field]] of some.entries()) {
        expect([field, data[`list${n}`].nodes]).toEqual([field, [data[`one${n}`]]]);
        expect(path === '' || data[`one${n}`][path]).toBeTruthy();
      }
    }
  });
});

test('a conversation in a list has no assignee and no tags once they are taken away', async () => {
  const { updateConversation } = await ask(
    `mutation ($input: UpdateConversationInput!) { updateConversation(input: $input) { userErrors { message } conversation { tags { databaseId } } } }`,
    { input: { id: ids['Conversation'], assigneeId: null } },
  );
  const removeTagIds = updateConversation.conversation.tags.map(({ databaseId }: { databaseId: string }) => databaseId);
  await ask(
    'mutation ($input: UpdateConversationInput!) { updateConversation(input: $input) { userErrors { message } } }',
    { input: { id: ids['Conversation'], removeTagIds } },
  );
  const { conversations } = await ask(
    '{ conversations { nodes { assignee { name } tags { name } contact { firstName } } } }',
  );
  expect(conversations.nodes).toEqual([{ assignee: null, tags: [], contact: { firstName: 'Ana' } }]);
});
