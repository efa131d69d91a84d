import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const CAMPAIGN = 'query ($id: ID!) { campaign(id: $id) { status statusCode statusReason } }';
const read = async (of: Sender, id: string) => dataOf(await of.ask(CAMPAIGN, { id })).campaign;
const number = { display_phone_number: '15550781001' };

/** A campaign that has begun, and is not over before the network has spoken. */
async function running(people = 60, messagesPerSecond = 1): Promise<{ readonly of: Sender; readonly id: string }> {
  const of = await fixture.sender();
  const { groupId } = await of.people(people);
  const id = await of.campaign({ audience: { groupIds: [groupId] }, messagesPerSecond, firstWave: 1_000 });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () => {
    const sent = dataOf(await of.ask('query ($id: ID!) { campaign(id: $id) { progress { sent } } }', { id }));
    expect(sent.campaign.progress.sent).toBeGreaterThan(0);
  });
  return { of, id };
}

type EmulatorTemplate = Readonly<Record<'id' | 'name' | 'wabaId', string>>;

async function control(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${fixture.gateway.emulator.url}/_emulator/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

/** The network posts a change of the account or number. */
const tell = ({ phoneNumberId }: Sender, field: string, value: object): Promise<unknown> =>
  control('POST', 'changes', { field, phoneNumberId, value });

async function expectPaused(of: Sender, id: string, code: string, reason: string | RegExp): Promise<void> {
  await eventually(async () =>
    expect(await read(of, id)).toEqual({
      status: 'PAUSED',
      statusCode: code,
      statusReason: expect.stringMatching(reason),
    }),
  );
  const events = await fixture.gateway.database.query<{ reason: { code: string } }>(
    `select payload->'reason' as reason from events where tenant_id = $1 and type = 'campaign.paused' order by xid desc, seq desc limit 1`,
    [of.id],
  );
  expect(events).toMatchObject([{ reason: { code } }]);
}

describe('a running campaign pauses itself when the network tells by webhook that', () => {
  test('its template is paused, and goes on once that is approved again', async () => {
    const { of, id } = await running();
    const { templates } = (await control('GET', 'templates')) as { templates: EmulatorTemplate[] };
    const found = templates.find(({ wabaId, name }) => wabaId === of.wabaId && name === 'notice');
    const status = (word: string) => control('POST', 'templates', { id: found?.id, status: word });
    await status('PAUSED');
    await expectPaused(of, id, 'TEMPLATE_UNAVAILABLE', /PAUSED/i);
    await status('APPROVED');
    await eventually(async () => dataOf(await of.mutate('resumeCampaign', { id })));
    await eventually(async () => expect((await read(of, id)).status).toBe('RUNNING'));
    // Faults are for the next message of any campaign: this one sends none when the next test begins.
    dataOf(await of.mutate('cancelCampaign', { id }));
    const queued = '{ messages(filter: { status: { eq: QUEUED } }) { totalCount } }';
    await eventually(async () => expect(dataOf(await of.ask(queued)).messages.totalCount).toBe(0));
  });

  test('the quality of its number is low', async () => {
    const { of, id } = await running();
    await tell(of, 'phone_number_quality_update', { ...number, event: 'FLAGGED', current_limit: 'TIER_1K' });
    await expectPaused(of, id, 'QUALITY_RED', /red/);
  });

  test.each([131_048, 368, 131_042])('it refuses a send with %i, which pauses the channel', async code => {
    // Fast enough that the next messages are being accepted when it comes.
    const { of, id } = await running(400, 30);
    await control('POST', 'faults', { next: [{ errorCode: code }] });
    await expectPaused(of, id, 'CHANNEL_PAUSED', new RegExp(`^The channel is paused: ${code} `));
  });

  test('the daily limit of its portfolio is near', async () => {
    const { of, id } = await running();
    await tell(of, 'business_capability_update', { max_daily_conversations_per_business: 1 });
    await expectPaused(of, id, 'DAILY_LIMIT', /of the 1 that the network allows/);
  });

  test('the daily limit of its portfolio is near, which several campaigns use up together', async () => {
    const of = await fixture.sender();
    const [one, other] = [await of.people(90), await of.people(90)];
    const fast = { messagesPerSecond: 20, firstWave: 1_000 };
    const ids = [
      await of.campaign({ audience: { groupIds: [one.groupId] }, ...fast }),
      await of.campaign({ audience: { groupIds: [other.groupId] }, ...fast }),
    ] as const;
    await tell(of, 'business_capability_update', { max_daily_conversations_per_business: 100 });
    await eventually(async () =>
      expect(
        dataOf(await of.ask('query ($id: ID!) { previewCampaign(id: $id) { dailyLimit } }', { id: ids[0] }))
          .previewCampaign.dailyLimit,
      ).toBe(100),
    );
    for (const id of ids) dataOf(await of.mutate('startCampaign', { id }));
    for (const id of ids)
      await eventually(async () =>
        expect(await read(of, id)).toMatchObject({ status: 'PAUSED', statusCode: 'DAILY_LIMIT' }),
      );
    const { messages } = dataOf(await of.ask('{ messages { totalCount } }'));
    expect(messages.totalCount).toBeGreaterThanOrEqual(95);
    expect(messages.totalCount).toBeLessThanOrEqual(100);
  });

  test('its account may not write first, or is disabled, and goes on once that has ended', async () => {
    const { of, id } = await running();
    const type = 'RESTRICTED_BIZ_INITIATED_MESSAGING';
    const restriction = (seconds: number) => ({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{ restriction_type: type, expiration: Math.round(Date.now() / 1_000) + seconds }],
    });
    await tell(of, 'account_update', restriction(3_600));
    await expectPaused(of, id, 'ACCOUNT_RESTRICTED', type);
    await tell(of, 'account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } });
    await eventually(async () => {
      const health = 'query { channels { nodes { health { restrictions { type } } } } }';
      expect(dataOf(await of.ask(health)).channels.nodes).toEqual([{ health: { restrictions: [] } }]);
    });
    dataOf(await of.mutate('resumeCampaign', { id }));
    await tell(of, 'account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } });
    await expectPaused(of, id, 'ACCOUNT_RESTRICTED', /disabled/);
  });
});

test('people for whom a message is scheduled do not count for the daily limit yet', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(3);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  await tell(of, 'business_capability_update', { max_daily_conversations_per_business: 100 });
  const content = { template: { name: 'notice', language: 'en' } };
  const scheduledAt = { instant: new Date(Date.now() + 3_600_000).toISOString() };
  const [now, ...later] = ids;
  dataOf(await of.mutate('sendMessage', { to: { contactId: now }, content }));
  for (const contactId of later) dataOf(await of.mutate('sendMessage', { to: { contactId }, content, scheduledAt }));
  const preview = 'query ($id: ID!) { previewCampaign(id: $id) { dailyLimit reachedCount } }';
  await eventually(async () =>
    expect(dataOf(await of.ask(preview, { id })).previewCampaign).toEqual({ dailyLimit: 100, reachedCount: 1 }),
  );
});

test('people whose message was cancelled do not count for the daily limit', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(2);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  await tell(of, 'business_capability_update', { max_daily_conversations_per_business: 100 });
  const content = { template: { name: 'notice', language: 'en' } };
  const scheduledAt = { instant: new Date(Date.now() + 3_600_000).toISOString() };
  const [now, later] = ids;
  dataOf(await of.mutate('sendMessage', { to: { contactId: now }, content }));
  const sent = await of.mutate(
    'sendMessage',
    { to: { contactId: later }, content, scheduledAt },
    'message { databaseId }',
  );
  dataOf(await of.mutate('cancelMessage', { id: payloadOf(sent).message.databaseId }));
  // As if it had been scheduled for a minute ago.
  await fixture.gateway.database.query(
    `update messages set scheduled_at = now() - interval '1 minute' where tenant_id = $1 and scheduled_at is not null`,
    [of.id],
  );
  const preview = 'query ($id: ID!) { previewCampaign(id: $id) { dailyLimit reachedCount } }';
  await eventually(async () => expect(dataOf(await of.ask(preview, { id })).previewCampaign.dailyLimit).toBe(100));
  expect(dataOf(await of.ask(preview, { id })).previewCampaign.reachedCount).toBe(1);
});

test('people whose message failed do not count for the daily limit', async () => {
  const of = await fixture.sender();
  const { groupId, ids, phones } = await of.people(2);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  await tell(of, 'business_capability_update', { max_daily_conversations_per_business: 100 });
  await control('POST', 'faults', { next: [{ to: phones[0], errorCode: 131_026 }] });
  const content = { template: { name: 'notice', language: 'en' } };
  for (const contactId of ids) dataOf(await of.mutate('sendMessage', { to: { contactId }, content }));
  await eventually(async () => {
    const { messages } = dataOf(await of.ask('{ messages { nodes { status } } }'));
    expect(messages.nodes.map((node: { status: string }) => node.status).sort()).toEqual(['FAILED', 'READ']);
  });
  const preview = 'query ($id: ID!) { previewCampaign(id: $id) { dailyLimit reachedCount } }';
  const reached = async () => dataOf(await of.ask(preview, { id })).previewCampaign;
  await eventually(async () => expect(await reached()).toEqual({ dailyLimit: 100, reachedCount: 1 }));
  // As if both had been accepted days ago, and sent within the day.
  await fixture.gateway.database.query(
    `with former as (
       select m.tenant_id, m.id, uuid_v7(now() - interval '3 days', m.contact_id) as earlier, s.status
       from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id where m.tenant_id = $1
     ), moved as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, template_id, created_at)
       select m.tenant_id, f.earlier, m.conversation_id, m.contact_id, m.channel_id, m.direction, m.type, m.body, m.template_id,
         now() - interval '3 days' from former f join messages m on m.tenant_id = f.tenant_id and m.id = f.id
     ), removed as (
       delete from messages m using former f where m.tenant_id = f.tenant_id and m.id = f.id
     ), states as (
       insert into message_states (tenant_id, message_id, status, sent_at, updated_at)
       select tenant_id, earlier, status, now() - interval '1 hour', now() from former)
     insert into message_updates (tenant_id, message_id, updated_at, status) select tenant_id, earlier, now(), status from former`,
    [of.id],
  );
  expect(await reached()).toEqual({ dailyLimit: 100, reachedCount: 1 });
});

test('people to whom a message of days ago was sent within the day count for the daily limit', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(3);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  await tell(of, 'business_capability_update', { max_daily_conversations_per_business: 100 });
  const content = { template: { name: 'notice', language: 'en' } };
  for (const contactId of ids) dataOf(await of.mutate('sendMessage', { to: { contactId }, content }));
  const preview = 'query ($id: ID!) { previewCampaign(id: $id) { dailyLimit reachedCount } }';
  const reached = async () => dataOf(await of.ask(preview, { id })).previewCampaign;
  await eventually(async () => expect(await reached()).toEqual({ dailyLimit: 100, reachedCount: 3 }));
  await eventually(async () => {
    const { messages } = dataOf(await of.ask('{ messages(filter: { status: { eq: READ } }) { totalCount } }'));
    expect(messages.totalCount).toBe(3);
  });
  // As if they had been accepted three days ago: one was sent at once and read today, the others were sent yesterday.
  const [early, ...late] = ids;
  await fixture.gateway.database.query(
    `with former as (
       delete from messages where tenant_id = $1 returning *
     ), moved as (
       insert into messages (tenant_id, id, conversation_id, contact_id, channel_id, direction, type, body, template_id, created_at, scheduled_at)
       select tenant_id, uuid_v7(now() - interval '3 days', contact_id), conversation_id, contact_id, channel_id, direction, type, body,
         template_id, now() - interval '3 days', case when contact_id = $3 then now() - interval '23 hours' end
       from former returning tenant_id, id, contact_id
     ), states as (
       insert into message_states (tenant_id, message_id, status, sent_at, read_at, updated_at)
       select tenant_id, id, 'read', case when contact_id = $2 then now() - interval '3 days' else now() - interval '23 hours' end, now(), now()
       from moved)
     insert into message_updates (tenant_id, message_id, updated_at, status) select tenant_id, id, now(), 'read' from moved`,
    [of.id, early, late[0]],
  );
  expect(await reached()).toEqual({ dailyLimit: 100, reachedCount: 2 });
});
