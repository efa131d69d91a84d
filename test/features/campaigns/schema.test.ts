import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../src/core/global-ids.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { newPhone } from '../../support/seed.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from './fixture.ts';

let fixture: CampaignFixture;
let sender: Sender;
beforeAll(async () => {
  fixture = await startCampaignFixture();
  sender = await fixture.sender();
});
afterAll(() => fixture.gateway.stop());

const CAMPAIGN = `databaseId displayName name status statusCode scheduledAt startedAt endedAt messagesPerSecond firstWave firstWaveSeconds maxFailurePercent
  sendingHours { start end } frequencyCap { messages days } createdBy { kind displayName } channel { databaseId }
  audience { groups { databaseId } contactCount filter list { name rowCount } }
  content { ... on TemplateContent { templateName language values { body } rendered { body } } }`;
const read = async (id: string, of = sender) =>
  dataOf(await of.ask(`query ($id: ID!) { campaign(id: $id) { ${CAMPAIGN} } }`, { id })).campaign;

describe('a campaign', () => {
  test('is a draft as given, and an update changes only the given fields', async () => {
    const { groupId } = await sender.people(1);
    const id = await sender.campaign({
      name: ' Summer sale ',
      template: { name: 'sale', language: 'en', body: ['@{contact_first_name|friend}', 'SUN'] },
      audience: { groupIds: [groupId] },
      messagesPerSecond: 20,
      sendingHours: { start: '09:00', end: '20:00' },
      frequencyCap: { messages: 2, days: 7 },
      firstWave: 50,
    });
    const described = {
      databaseId: id,
      displayName: 'Summer sale',
      name: 'Summer sale',
      status: 'DRAFT',
      statusCode: null,
      scheduledAt: null,
      startedAt: null,
      endedAt: null,
      messagesPerSecond: 20,
      firstWave: 50,
      firstWaveSeconds: 300,
      maxFailurePercent: 20,
      sendingHours: { start: '09:00', end: '20:00' },
      frequencyCap: { messages: 2, days: 7 },
      createdBy: { kind: 'TOKEN', displayName: 'test' },
      channel: null,
      audience: { groups: [{ databaseId: groupId }], contactCount: null, filter: null, list: null },
      content: {
        templateName: 'sale',
        language: 'en',
        values: { body: ['@{contact_first_name|friend}', 'SUN'] },
        rendered: null,
      },
    };
    expect(await read(id)).toEqual(described);
    const change = (input: object) => sender.mutate('updateCampaign', { id, ...input }, 'campaign { databaseId }');
    dataOf(await change({ messagesPerSecond: null, maxFailurePercent: 5 }));
    expect(await read(id)).toEqual({ ...described, messagesPerSecond: null, maxFailurePercent: 5 });
    dataOf(await change({ audience: { filter: { company: { eq: 'Acme' } } }, sendingHours: null }));
    expect(await read(id)).toMatchObject({
      sendingHours: null,
      audience: { groups: [], filter: { company: { eq: 'Acme' } } },
    });
    const remove = () => sender.mutate('deleteCampaign', { id, idempotencyKey: `gone ${id}` }, 'deletedId');
    const deletedId = encodeGlobalId('Campaign', sender.id, id);
    expect([payloadOf(await remove()), payloadOf(await remove())]).toMatchObject([{ deletedId }, { deletedId }]);
    expect(await read(id)).toBeNull();
    expect(codeOf(await change({ name: 'Again' }))).toBe('NOT_FOUND');
  });

  test('goes to a saved filter as it was, and shows the filter as it is written', async () => {
    const filter = { type: { eq: 'LEAD' }, consent: { category: 'MARKETING', eq: 'OPTED_IN' } };
    const saved = payloadOf(await sender.mutate('createSavedFilter', { name: 'Leads', filter }, 'savedFilter { id }'));
    const input = {
      name: 'To leads',
      template: { name: 'notice', language: 'en' },
      audience: { savedFilterId: saved.savedFilter.id },
    };
    const created = payloadOf(await sender.mutate('createCampaign', input, 'campaign { id audience { filter } }'));
    expect(created.campaign.audience).toEqual({ filter });
    const changed = { id: saved.savedFilter.id, filter: {} };
    payloadOf(await sender.mutate('updateSavedFilter', changed, 'savedFilter { id }'));
    // What is read is an input again, as the form of a campaign needs it.
    const again = { id: created.campaign.id, audience: { filter: created.campaign.audience.filter } };
    const updated = payloadOf(await sender.mutate('updateCampaign', again, 'campaign { audience { filter } }'));
    expect(updated.campaign.audience).toEqual({ filter });
    const missing = await sender.mutate('createCampaign', { ...input, audience: { savedFilterId: '999999' } });
    expect(Object.keys(faultsOf(missing))).toEqual(['audience.savedFilterId']);
  });

  test('is created once per idempotency key', async () => {
    const { groupId } = await sender.people(1);
    const input = {
      name: 'Once',
      template: { name: 'notice', language: 'en' },
      audience: { groupIds: [groupId] },
      idempotencyKey: 'campaign-1',
    };
    const create = (changed = {}) =>
      sender.mutate('createCampaign', { ...input, ...changed }, 'campaign { databaseId }');
    const [first, second] = [await create(), await create()];
    expect(payloadOf(second)).toEqual(payloadOf(first));
    expect(codeOf(await create({ name: 'Other' }))).toBe('IDEMPOTENCY_MISMATCH');
  });

  test('with faults is refused with all of them, each at its field', async () => {
    const faulty = await sender.mutate('createCampaign', {
      name: ' ',
      template: { name: 'notice', language: 'en' },
      audience: { groupIds: ['999999'] },
      channelId: '999999',
      messagesPerSecond: 0,
      sendingHours: { start: '9:00', end: '25:00' },
      frequencyCap: { messages: 0, days: 1000 },
      maxFailurePercent: 101,
    });
    expect(Object.keys(faultsOf(faulty)).sort()).toEqual([
      'audience.groupIds',
      'channelId',
      'frequencyCap.days',
      'frequencyCap.messages',
      'maxFailurePercent',
      'messagesPerSecond',
      'name',
      'sendingHours.end',
      'sendingHours.start',
    ]);
    const base = { name: 'A', template: { name: 'sale', language: 'en', body: ['a', 'b'] } };
    const create = (input: object) => sender.mutate('createCampaign', { ...base, ...input });
    expect(faultsOf(await create({ audience: { groupIds: ['999999'] } }))).toEqual({
      'audience.groupIds': ['There is no group with the id 999999.'],
    });
    expect(Object.keys(faultsOf(await create({ audience: { phones: ['+4915', 'none'] } })))).toEqual([
      'audience.phones.0',
      'audience.phones.1',
    ]);
    const { groupId } = await sender.people(1);
    const audience = { groupIds: [groupId] };
    expect(Object.keys(faultsOf(await create({ audience, template: { ...base.template, body: ['a'] } })))).toEqual([
      'template.body.1',
    ]);
    const unknown = { ...base.template, body: ['@{column.code}', '@{nobody}'] };
    expect(Object.keys(faultsOf(await create({ audience, template: unknown })))).toEqual([
      'template.body.0',
      'template.body.1',
    ]);
    expect(Object.keys(faultsOf(await create({ audience, template: { name: 'missing', language: 'en' } })))).toEqual([
      'template.name',
    ]);
  });

  test('takes numbers, which become contacts once, also national ones after the country of the account is set', async () => {
    const [known, fresh] = [await sender.people(1), newPhone()];
    const phones = [known.phones[0] as string, fresh, fresh];
    const id = await sender.campaign({ audience: { phones } });
    expect((await read(id)).audience.list).toEqual({ name: 'News', rowCount: 3 });
    const found = await sender.ask(
      'query ($phone: String!) { contacts(filter: { phone: { eq: $phone } }) { totalCount } }',
      {
        phone: fresh,
      },
    );
    expect(dataOf(found).contacts.totalCount).toBe(1);
    // The list of a campaign's own numbers is not among the uploaded ones.
    const lists = dataOf(await sender.ask('{ recipientLists { nodes { name } } }')).recipientLists.nodes;
    expect(lists.map(({ name }: { name: string }) => name)).not.toContain('News');
  });

  test('of another tenant is not found', async () => {
    const other = await fixture.sender();
    const { groupId } = await sender.people(1);
    const id = await sender.campaign({ audience: { groupIds: [groupId] } });
    expect(await read(id, other)).toBeNull();
    expect(codeOf(await other.mutate('updateCampaign', { id, name: 'Mine' }))).toBe('NOT_FOUND');
    expect(codeOf(await other.mutate('deleteCampaign', { id }))).toBe('NOT_FOUND');
  });

  test('is listed by status and name, newest first', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(1);
    const audience = { groupIds: [groupId] };
    const [a, b] = [await of.campaign({ name: 'Alpha', audience }), await of.campaign({ name: 'Beta', audience })];
    const list = async (args: string) =>
      dataOf(await of.ask(`{ campaigns${args} { totalCount nodes { databaseId } } }`)).campaigns.nodes.map(
        (node: { databaseId: string }) => node.databaseId,
      );
    expect(await list('')).toEqual([b, a]);
    expect(await list('(search: "alp")')).toEqual([a]);
    expect(await list('(filter: { status: { eq: RUNNING } })')).toEqual([]);
    expect(await list('(filter: { status: { eq: DRAFT } }, orderBy: [{ field: NAME }])')).toEqual([a, b]);
  });

  test('needs its scopes', async () => {
    const reader = await fixture.gateway.addToken(sender, { scopes: ['campaigns:read'] });
    const { groupId } = await sender.people(1);
    const input = { name: 'A', template: { name: 'notice', language: 'en' }, audience: { groupIds: [groupId] } };
    expect(codeOf(await fixture.gateway.mutate('createCampaign', input, '', reader))).toBe('INSUFFICIENT_SCOPE');
    const writer = await fixture.gateway.addToken(sender, { scopes: ['campaigns:write', 'messages:send'] });
    expect(codeOf(await fixture.gateway.mutate('createCampaign', input, '', writer))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await fixture.gateway.graphql('{ campaigns { totalCount } }', {}, writer))).toBe(
      'INSUFFICIENT_SCOPE',
    );
  });
});
