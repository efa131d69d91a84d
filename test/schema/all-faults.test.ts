import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, faultsOf, payloadOf } from '../support/answers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** Steps that find faults one after the other (forms, ids, references, unique values, the idempotency key) report them together. */

const LONG = 'x'.repeat(300);
const UNKNOWN = '987654';

let gateway: TestGateway;
let ids: Readonly<Record<'contact' | 'group' | 'conversation' | 'tag' | 'bot', string>>;
beforeAll(async () => {
  gateway = await startGateway({
    templates: [
      { name: 'hello', language: 'en', category: 'UTILITY', components: [{ type: 'BODY', text: 'Hello {{1}}' }] },
    ],
  });
  await gateway.rest('POST', '/templates/sync');
  const idOf = async (name: string, field: string, input: object): Promise<string> =>
    payloadOf(await gateway.mutate(name, input, `${field} { id }`))[field].id;
  const contact = await idOf('createContact', 'contact', { phone: '+4915112360001' });
  const sent = await gateway.mutate(
    'sendMessage',
    { to: { contactId: contact }, content: { text: { body: 'Hello' } } },
    'message { conversation { id } }',
  );
  ids = {
    contact,
    group: await idOf('createContactGroup', 'contactGroup', { name: 'VIP' }),
    conversation: payloadOf(sent).message.conversation.id,
    bot: await idOf('createBot', 'bot', { name: 'Hours', trigger: 'ANY', reply: { text: { text: 'Hello' } } }),
    tag: await idOf('createTag', 'tag', { name: 'Urgent' }),
  };
});
afterAll(() => gateway.stop());

const totals = async (): Promise<unknown> =>
  dataOf(
    await gateway.graphql(
      '{ contacts { totalCount } campaigns { totalCount } recipientLists { totalCount } tags { totalCount nodes { color } } bots { totalCount } account { settings { timeZone optInWords } } }',
    ),
  );

const template = { name: 'hello', language: 'en', body: ['Ana'] };

describe('a mutation names every faulty field', () => {
  const cases: readonly (readonly [name: string, input: () => object, fields: readonly string[]])[] = [
    [
      'updateAccount',
      () => ({
        defaultSourceId: 'x',
        defaultStatusId: 'x',
        defaultAssigneeId: UNKNOWN,
        timeZone: 'Mars/Base',
        idempotencyKey: LONG,
      }),
      ['defaultAssigneeId', 'defaultSourceId', 'defaultStatusId', 'idempotencyKey', 'timeZone'],
    ],
    ['createTag', () => ({ name: 'Urgent', idempotencyKey: LONG }), ['idempotencyKey', 'name']],
    [
      'updateTag',
      () => ({ id: ids.tag, color: 'red', name: LONG, idempotencyKey: LONG }),
      ['color', 'idempotencyKey', 'name'],
    ],
    ['createContactGroup', () => ({ name: 'VIP', idempotencyKey: LONG }), ['idempotencyKey', 'name']],
    [
      'createNote',
      () => ({ body: '', contactId: UNKNOWN, idempotencyKey: LONG }),
      ['body', 'contactId', 'idempotencyKey'],
    ],
    [
      'createBot',
      () => ({ name: LONG, trigger: 'EXACT', reply: { text: { text: '@{nobody}' } } }),
      ['keywords', 'name', 'reply.text.text'],
    ],
    [
      'updateBot',
      () => ({
        id: ids.bot,
        name: '',
        priority: 2_000_000_000,
        reply: { text: { text: '@{nobody}' } },
        idempotencyKey: LONG,
      }),
      ['idempotencyKey', 'name', 'priority', 'reply.text.text'],
    ],
    [
      'createCampaign',
      () => ({
        name: LONG,
        template: { ...template, body: ['@{nobody}'] },
        audience: { groupIds: [ids.group, 'x'] },
        maxFailurePercent: 0,
      }),
      ['audience.groupIds', 'maxFailurePercent', 'name'],
    ],
    [
      'createCampaign',
      () => ({
        name: 'News',
        template: { ...template, body: ['@{nobody}'] },
        audience: { phones: ['+4915112360002'] },
        idempotencyKey: LONG,
      }),
      ['idempotencyKey', 'template.body.0'],
    ],
    [
      'createCampaign',
      () => ({ name: 'News', template, audience: { phones: ['+4915112360003', 'nonsense'] } }),
      ['audience.phones.1'],
    ],
    [
      'createRecipientList',
      () => ({ name: 'List', csv: 'phone\n+4915112360004\n', idempotencyKey: LONG }),
      ['idempotencyKey'],
    ],
    [
      'mergeContacts',
      () => ({ id: ids.contact, fromIds: ['x'], set: { city: LONG, groupNames: [''] }, idempotencyKey: LONG }),
      ['fromIds.0', 'idempotencyKey', 'set.city', 'set.groupNames.0'],
    ],
    [
      'updateConversation',
      () => ({ id: ids.conversation, status: null, assigneeId: 'x', addTagIds: ['x'], removeTagIds: ['x'] }),
      ['addTagIds.0', 'assigneeId', 'removeTagIds.0', 'status'],
    ],
    [
      'updateConversations',
      () => ({ target: { ids: [ids.conversation] }, set: { assigneeId: 'x', addTagIds: ['x'] }, idempotencyKey: LONG }),
      ['idempotencyKey', 'set.addTagIds.0', 'set.assigneeId'],
    ],
  ];

  test.each(cases.map(([name, input, fields]) => [name, fields.join(' '), input, fields] as const))(
    '%s names %s, and changes nothing',
    async (name, _names, input, fields) => {
      const before = await totals();
      const faults = faultsOf(await gateway.mutate(name, input(), ''));
      expect(Object.keys(faults).sort()).toEqual(fields);
      expect(JSON.stringify(faults)).not.toContain('¤');
      expect(await totals()).toEqual(before);
    },
  );
});

test('a fault that only the repair of another field would cause is not reported', async () => {
  const unknownChannel = { name: 'News', template: { ...template, name: 'none' }, audience: { groupIds: [ids.group] } };
  expect(
    Object.keys(faultsOf(await gateway.mutate('createCampaign', { ...unknownChannel, channelId: UNKNOWN }, ''))),
  ).toEqual(['channelId']);
});
