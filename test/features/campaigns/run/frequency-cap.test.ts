import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const CAMPAIGN = `query ($id: ID!) { campaign(id: $id) { status
  progress { sent pending skips { reason count } } recipients(filter: { state: { eq: QUEUED } }) { totalCount } } }`;
const read = async (of: Sender, id: string) => dataOf(await of.ask(CAMPAIGN, { id })).campaign;
const preview = async (of: Sender, id: string) =>
  dataOf(
    await of.ask('query ($id: ID!) { previewCampaign(id: $id) { recipientCount skips { reason count } } }', { id }),
  ).previewCampaign;

async function setRate(of: Sender, messagesPerSecond: number): Promise<void> {
  const { channels } = dataOf(await of.ask('{ channels { nodes { databaseId } } }'));
  dataOf(await of.mutate('updateChannel', { id: channels.nodes[0].databaseId, messagesPerSecond }));
}

test('messages that a pause took back count for no frequency cap: everybody gets one after it', async () => {
  const of = await fixture.sender();
  const { groupId } = await of.people(100);
  await setRate(of, 10);
  const id = await of.campaign({ audience: { groupIds: [groupId] }, frequencyCap: { messages: 1, days: 7 } });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () => {
    const { progress, recipients } = await read(of, id);
    expect([progress.sent > 0, recipients.totalCount > 0]).toEqual([true, true]);
  });
  // What waits for the channel goes on waiting, however slow this machine is.
  const { database } = fixture.gateway;
  await database.query('update log_origin set outbox_held_at = now()');
  await eventually(async () => expect((await read(of, id)).recipients.totalCount).toBeGreaterThan(0));
  dataOf(await of.mutate('pauseCampaign', { id }));
  const cancelled = dataOf(await of.ask('{ messages(filter: { status: { eq: CANCELLED } }) { totalCount } }'));
  expect(cancelled.messages.totalCount).toBeGreaterThan(0);
  await database.query('update log_origin set outbox_held_at = null');
  await setRate(of, 80);
  dataOf(await of.mutate('resumeCampaign', { id }));
  await eventually(async () =>
    expect(await read(of, id)).toMatchObject({
      status: 'COMPLETED',
      progress: { sent: 100, pending: 0, skips: [] },
    }),
  );
});

test('messages that failed count for no frequency cap, neither in a preview nor in a run', async () => {
  const of = await fixture.sender();
  const { groupId, ids, phones } = await of.people(2);
  const template = { name: 'notice', language: 'en' };
  fixture.gateway.emulator.setFaults({ next: [{ to: phones[0] as string, errorCode: 131_026 }] });
  for (const contactId of ids) dataOf(await of.mutate('sendMessage', { to: { contactId }, content: { template } }));
  const statuses = '{ messages { nodes { status } } }';
  await eventually(async () => {
    const { messages } = dataOf(await of.ask(statuses));
    expect(messages.nodes.map((node: { status: string }) => node.status).sort()).toEqual(['FAILED', 'READ']);
  });
  const id = await of.campaign({ audience: { groupIds: [groupId] }, frequencyCap: { messages: 1, days: 7 } });
  const skips = [{ reason: 'FREQUENCY_CAP', count: 1 }];
  expect(await preview(of, id)).toEqual({ recipientCount: 1, skips });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () =>
    expect(await read(of, id)).toMatchObject({ status: 'COMPLETED', progress: { sent: 1, skips } }),
  );
});

test('a message that was scheduled before the days of a frequency cap and sent within them counts', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(2);
  const template = { name: 'notice', language: 'en' };
  const scheduledAt = { instant: new Date(Date.now() + 3_600_000).toISOString() };
  const [contactId] = ids;
  dataOf(await of.mutate('sendMessage', { to: { contactId }, content: { template }, scheduledAt }));
  // As if it had been scheduled ten days ago, for yesterday.
  await fixture.gateway.database.query(
    `with sent as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, template_id, created_at, scheduled_at)
       select tenant_id, uuid_v7(now() - interval '10 days', 1), conversation_id, contact_id, channel_id, direction, type, body, template_id,
         now() - interval '10 days', now() - interval '1 day'
       from messages where contact_id = $1 returning tenant_id, id)
     insert into message_states (tenant_id, message_id, status, updated_at) select tenant_id, id, 'read', now() from sent`,
    [contactId],
  );
  const { messages } = dataOf(await of.ask('{ messages(filter: { status: { eq: SCHEDULED } }) { nodes { id } } }'));
  dataOf(await of.mutate('cancelMessage', { id: messages.nodes[0].id }));
  const id = await of.campaign({ audience: { groupIds: [groupId] }, frequencyCap: { messages: 1, days: 7 } });
  const skips = [{ reason: 'FREQUENCY_CAP', count: 1 }];
  expect(await preview(of, id)).toEqual({ recipientCount: 1, skips });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () =>
    expect(await read(of, id)).toMatchObject({ status: 'COMPLETED', progress: { sent: 1, skips } }),
  );
});

test('a message that is scheduled for later counts for no frequency cap yet, whenever it was accepted', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(2);
  const content = { template: { name: 'notice', language: 'en' } };
  const scheduledAt = { instant: new Date(Date.now() + 20 * 86_400_000).toISOString() };
  for (const contactId of ids) dataOf(await of.mutate('sendMessage', { to: { contactId }, content, scheduledAt }));
  // As if one had been accepted ten days ago.
  await fixture.gateway.database.query(
    `with early as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, template_id, created_at, scheduled_at)
       select tenant_id, uuid_v7(now() - interval '10 days', 1), conversation_id, contact_id, channel_id, direction, type, body, template_id,
         now() - interval '10 days', scheduled_at
       from messages where contact_id = $1 returning tenant_id, id)
     insert into message_states (tenant_id, message_id, status, updated_at) select tenant_id, id, 'queued', now() from early`,
    [ids[0]],
  );
  const id = await of.campaign({ audience: { groupIds: [groupId] }, frequencyCap: { messages: 1, days: 7 } });
  expect(await preview(of, id)).toEqual({ recipientCount: 2, skips: [] });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () =>
    expect(await read(of, id)).toMatchObject({ status: 'COMPLETED', progress: { sent: 2, skips: [] } }),
  );
});

test('campaigns that run at the same time keep the frequency cap together', async () => {
  const of = await fixture.sender();
  const { groupId } = await of.people(150);
  const input = { audience: { groupIds: [groupId] }, frequencyCap: { messages: 1, days: 7 }, firstWave: 150 };
  const ids = await Promise.all([1, 2, 3].map(() => of.campaign(input)));
  for (const answer of await Promise.all(ids.map(id => of.mutate('startCampaign', { id })))) dataOf(answer);
  await eventually(async () => {
    const campaigns = await Promise.all(ids.map(id => read(of, id)));
    expect(campaigns.map(({ status }) => status)).toEqual(ids.map(() => 'COMPLETED'));
  });
  const numbers = await fixture.gateway.database.query<{ messages: number; people: number }>(
    `select messages, count(*)::int as people from (
       select count(*)::int as messages from messages where tenant_id = $1 group by contact_id) m group by messages`,
    [of.id],
  );
  expect(numbers).toEqual([{ messages: 1, people: 150 }]);
});
