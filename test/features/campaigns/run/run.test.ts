import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const start = (of: Sender, id: string, input = {}) =>
  of.mutate('startCampaign', { id, ...input }, 'campaign { status scheduledAt }');
const statusOf = async (of: Sender, id: string): Promise<string> =>
  dataOf(await of.ask('query ($id: ID!) { campaign(id: $id) { status statusCode } }', { id })).campaign.status;
const rowsOf = (of: Sender, id: string) =>
  fixture.gateway.database.query<{
    contact_id: string;
    state: number;
    reason: number | null;
    message_id: string | null;
  }>(
    'select contact_id::text, state, reason, message_id from campaign_recipients where tenant_id = $1 and campaign_id = $2 order by contact_id',
    [of.id, Number(id)],
  );
const eventsOf = async (of: Sender): Promise<string[]> =>
  (
    await fixture.gateway.database.query<{ type: string }>(
      `select type from events where tenant_id = $1 and type like 'campaign.%' order by xid, seq`,
      [of.id],
    )
  ).map(({ type }) => type);
const sentTo = (phones: readonly string[]) =>
  fixture.gateway.emulator
    .sent({ limit: 1_000 })
    .messages.filter(({ to }) => phones.includes(to.startsWith('+') ? to : `+${to}`));

describe('a campaign that is started', () => {
  test('sends its template once to each contact of its audience, filled for each, and is completed', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(30, { firstName: 'Ana' });
    const template = { name: 'sale', language: 'en', body: ['@{contact_first_name|you}', 'SUN'] };
    const id = await of.campaign({ template, audience: { groupIds: [groupId] } });
    expect(payloadOf(await start(of, id)).campaign.status).toBe('RUNNING');
    await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
    await eventually(async () => expect((await rowsOf(of, id)).map(({ state }) => state)).toEqual(phones.map(() => 6)));
    expect(sentTo(phones)).toHaveLength(30);
    const { messages } = dataOf(
      await of.ask(
        '{ messages(first: 1) { totalCount nodes { sentBy { kind displayName } content { ... on TemplateContent { rendered { body } } } } } }',
      ),
    );
    expect(messages).toEqual({
      totalCount: 30,
      nodes: [
        {
          sentBy: { kind: 'CAMPAIGN', displayName: 'News' },
          content: { rendered: { body: 'Hello Ana, your code is SUN.' } },
        },
      ],
    });
    expect(await eventsOf(of)).toEqual(['campaign.started', 'campaign.completed']);
    const audit = await fixture.gateway.database.query(
      `select action, subject, author->>'kind' as kind from audit_log where tenant_id = $1 and action like 'campaign%'`,
      [of.id],
    );
    expect(audit).toEqual([{ action: 'campaign.started', subject: `campaign:${id}`, kind: 'token' }]);
    expect(codeOf(await start(of, id))).toBe('CONFLICT');
  });

  test('skips who opted out, who is gone and who was merged, and fills columns of the list', async () => {
    const of = await fixture.sender();
    const [a, b, out, noMarketing, gone] = [newPhone(), newPhone(), newPhone(), newPhone(), newPhone()];
    const csv = `phone,code\n${[a, b, out, noMarketing, gone].map((phone, index) => `${phone},@{contact_email}${index}`).join('\n')}`;
    const { recipientList: list } = payloadOf(
      await of.mutate('createRecipientList', { name: 'L', csv }, 'recipientList { databaseId }'),
    );
    const idOf = async (phone: string) =>
      dataOf(
        await of.ask('query ($phone: String!) { contactByIdentifier(identifier: { phone: $phone }) { databaseId } }', {
          phone,
        }),
      ).contactByIdentifier.databaseId;
    const optOut = async (phone: string, category: string) =>
      dataOf(await of.mutate('recordConsent', { contactId: await idOf(phone), category, state: 'OPTED_OUT' }));
    await optOut(out, 'ALL');
    await optOut(noMarketing, 'MARKETING');
    const template = { name: 'sale', language: 'en', body: ['@{contact_first_name}', '@{column.code}'] };
    const id = await of.campaign({
      template: { ...template, body: ['you', '@{column.code}'] },
      audience: { listId: list.databaseId },
    });
    dataOf(await of.mutate('deleteContact', { id: await idOf(gone) }));
    dataOf(await start(of, id));
    await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
    expect((await rowsOf(of, id)).map(({ reason }) => reason)).toEqual([null, null, 1, 1]);
    const bodies = dataOf(
      await of.ask('{ messages { nodes { content { ... on TemplateContent { rendered { body } } } } } }'),
    ).messages.nodes.map((node: { content: { rendered: { body: string } } }) => node.content.rendered.body);
    // A merge field in a value is text: values are not searched for merge fields.
    expect(bodies.sort()).toEqual([0, 1].map(index => `Hello you, your code is @{contact_email}${index}.`));
  });

  test('starts at its time, and can be cancelled before', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(2);
    const [id, never] = [
      await of.campaign({ audience: { groupIds: [groupId] } }),
      await of.campaign({ audience: { groupIds: [groupId] } }),
    ];
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    expect(payloadOf(await start(of, id, { scheduledAt })).campaign).toEqual({ status: 'SCHEDULED', scheduledAt });
    dataOf(await start(of, never, { scheduledAt }));
    dataOf(await of.mutate('cancelCampaign', { id: never }));
    const past = new Date(Date.now() - 1_000).toISOString();
    expect(Object.keys(faultsOf(await start(of, id, { scheduledAt: past })))).toEqual(['scheduledAt']);
    expect(sentTo(phones)).toHaveLength(0);
    await fixture.gateway.database.query(
      `update campaigns set scheduled_at = scheduled_at - interval '1 hour' where tenant_id = $1`,
      [of.id],
    );
    await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
    expect(sentTo(phones)).toHaveLength(2);
    expect(await statusOf(of, never)).toBe('CANCELLED');
  });

  test('to a group that was deleted is refused, and fails if it was scheduled and no group is left', async () => {
    const of = await fixture.sender();
    const [gone, left] = [await of.people(1), await of.people(1)];
    const campaign = (...groups: readonly { readonly groupId: string }[]) =>
      of.campaign({ audience: { groupIds: groups.map(({ groupId }) => groupId) } });
    const [draft, all, some] = [await campaign(gone, left), await campaign(gone), await campaign(gone, left)];
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const id of [all, some]) dataOf(await start(of, id, { scheduledAt }));
    dataOf(await of.mutate('deleteContactGroup', { id: gone.groupId }, 'deletedId'));
    expect(faultsOf(await start(of, draft))).toEqual({
      'audience.groupIds': [`There is no group with the id ${gone.groupId}.`],
    });
    await fixture.gateway.database.query(
      `update campaigns set scheduled_at = scheduled_at - interval '1 hour' where tenant_id = $1`,
      [of.id],
    );
    await eventually(async () =>
      expect([await statusOf(of, draft), await statusOf(of, all), await statusOf(of, some)]).toEqual([
        'DRAFT',
        'FAILED',
        'COMPLETED',
      ]),
    );
    const found = await of.ask('query ($id: ID!) { campaign(id: $id) { statusCode } }', { id: all });
    expect(dataOf(found).campaign.statusCode).toBe('AUDIENCE_GONE');
    expect(sentTo([...gone.phones, ...left.phones])).toHaveLength(1);
  });

  test('with a template that is not approved, or without a channel, is refused', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(1);
    const id = await of.campaign({ template: { name: 'stopped', language: 'en' }, audience: { groupIds: [groupId] } });
    expect(Object.keys(faultsOf(await start(of, id)))).toEqual(['template.name']);
    expect(await statusOf(of, id)).toBe('DRAFT');
  });

  test('leaves recipients for later whose local time is outside the sending hours', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(2);
    const hour = (new Date().getUTCHours() + 6) % 24;
    const time = (at: number): string => `${String(at % 24).padStart(2, '0')}:00`;
    const id = await of.campaign({
      audience: { groupIds: [groupId] },
      sendingHours: { start: time(hour), end: time(hour + 1) },
    });
    dataOf(await start(of, id));
    await eventually(async () => expect((await rowsOf(of, id)).map(({ state }) => state)).toEqual([1, 1]));
    expect(sentTo(phones)).toHaveLength(0);
    expect(await statusOf(of, id)).toBe('RUNNING');
    dataOf(await of.mutate('cancelCampaign', { id }));
  });

  test('goes by the time zone of the contact before that of the country', async () => {
    const of = await fixture.sender();
    const ahead = 12 - new Date().getUTCHours();
    const zone = (hours: number): string => `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
    const [day, night] = [
      await of.people(1, { timeZone: zone(ahead) }),
      await of.people(1, { timeZone: zone(ahead > 0 ? ahead - 12 : ahead + 12) }),
    ];
    const audience = { groupIds: [day.groupId, night.groupId] };
    const id = await of.campaign({ audience, sendingHours: { start: '09:00', end: '16:00' } });
    const preview = await of.ask('query ($id: ID!) { previewCampaign(id: $id) { recipientCount waitingCount } }', {
      id,
    });
    expect(dataOf(preview).previewCampaign).toEqual({ recipientCount: 2, waitingCount: 1 });
    dataOf(await start(of, id));
    await eventually(() => expect(sentTo(day.phones)).toHaveLength(1));
    const states = Object.fromEntries((await rowsOf(of, id)).map(row => [row.contact_id, row.message_id !== null]));
    expect(states).toEqual({ [day.ids[0] ?? '']: true, [night.ids[0] ?? '']: false });
    expect(sentTo(night.phones)).toHaveLength(0);
  });

  test('skips who had enough messages of the category', async () => {
    const of = await fixture.sender();
    const { groupId, ids } = await of.people(2);
    const audience = { groupIds: [groupId] };
    const template = { name: 'notice', language: 'en' };
    dataOf(await of.mutate('sendMessage', { to: { contactId: ids[0] }, content: { template } }));
    const id = await of.campaign({ audience, frequencyCap: { messages: 1, days: 7 } });
    dataOf(await start(of, id));
    await eventually(async () => expect(await statusOf(of, id)).toBe('COMPLETED'));
    expect((await rowsOf(of, id)).map(({ reason }) => reason)).toEqual([5, null]);
  });
});
