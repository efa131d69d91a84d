import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordConsent } from '../../../src/features/contacts/consent/record.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { ask, connect } from '../events/subscriber.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from './fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const PROGRESS =
  'total pending skipped sent delivered read replied failed optedOut cost { amount currency } failures { code title count }';
const progressOf = async (of: Sender, id: string) =>
  dataOf(await of.ask(`query ($id: ID!) { campaign(id: $id) { status progress { ${PROGRESS} } } }`, { id })).campaign
    .progress;
const start = async (of: Sender, id: string) => dataOf(await of.mutate('startCampaign', { id }));

/** Sends a campaign to a group, and waits until everybody has read it. @returns its databaseId */
async function finished(of: Sender, groupId: string, people: number): Promise<string> {
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  await start(of, id);
  await eventually(async () => expect((await progressOf(of, id)).read).toBe(people));
  return id;
}

/** The network's id of the message of a campaign to a person. */
async function wamidOf(id: string, phone: string): Promise<string> {
  const [row] = await fixture.gateway.database.query<{ wamid: string }>(
    `select w.wamid from campaign_recipients r
     join contacts c on c.tenant_id = r.tenant_id and c.id = r.contact_id and c.phone = $2
     join message_wamids w on w.tenant_id = r.tenant_id and w.message_id = r.message_id where r.campaign_id = $1`,
    [id, phone],
  );
  return row?.wamid ?? '';
}

/** Makes messages of a campaign 73 hours old: their ids have the time. */
async function moveBack(id: string, phones: readonly string[]): Promise<void> {
  await fixture.gateway.database.query(
    `with moved as (
       select r.tenant_id, r.message_id as id,
         (left(uuid_at(now() - interval '73 hours')::text, 13) || right(r.message_id::text, 23))::uuid as earlier
       from campaign_recipients r join contacts c on c.tenant_id = r.tenant_id and c.id = r.contact_id
       where r.campaign_id = $1 and c.phone = any($2)
     ), messages as (
       update messages m set id = v.earlier from moved v where m.tenant_id = v.tenant_id and m.id = v.id
     ), wamids as (
       update message_wamids w set message_id = v.earlier from moved v where w.tenant_id = v.tenant_id and w.message_id = v.id
     )
     update campaign_recipients r set message_id = v.earlier from moved v where r.tenant_id = v.tenant_id and r.message_id = v.id`,
    [id, phones],
  );
}

/** Answers that the log of events has. */
async function receivedBy(of: Sender): Promise<number> {
  const [row] = await fixture.gateway.database.query<{ count: number }>(
    `select count(*)::int as count from events where tenant_id = $1 and type = 'message.received'`,
    [of.id],
  );
  return row?.count ?? 0;
}

describe('the progress of a campaign', () => {
  test('counts what became of its messages, and attributes answers, taps and opt-outs to it once each', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(6);
    const [first = '', second = '', third = ''] = phones;
    const bad = newPhone();
    await of.mutate('createContact', { phone: bad, groupIds: [groupId] });
    fixture.gateway.emulator.setFaults({ next: [{ to: bad, asyncErrorCode: 131_049, count: 3 }] });
    const id = await of.campaign({ audience: { groupIds: [groupId] }, maxFailurePercent: 100 });
    await start(of, id);
    await eventually(async () => expect((await progressOf(of, id)).read).toBe(6));
    await eventually(async () => expect((await progressOf(of, id)).failed).toBe(1));
    const { emulator } = fixture.gateway;
    const { phoneNumberId } = of;
    emulator.inbound({ from: first, text: 'Thanks', phoneNumberId });
    emulator.inbound({ from: first, text: 'Thanks again', phoneNumberId });
    emulator.inbound({ from: second, text: 'STOP', phoneNumberId });
    emulator.inbound({ from: newPhone(), text: 'Who are you?', phoneNumberId });
    await eventually(async () =>
      expect(await progressOf(of, id)).toEqual({
        total: 7,
        pending: 0,
        skipped: 0,
        sent: 7,
        delivered: 6,
        read: 6,
        replied: 2,
        failed: 1,
        optedOut: 1,
        cost: [],
        failures: [
          {
            code: 131_049,
            title: 'This message was not delivered to maintain healthy ecosystem engagement.',
            count: 1,
          },
        ],
      }),
    );
    const recipients = `query ($id: ID!, $filter: CampaignRecipientFilter) { campaign(id: $id) { recipients(first: 3, filter: $filter) {
      totalCount pageInfo { hasNextPage endCursor } nodes { state skipReason errorCode errorTitle repliedAt hasOptedOut contact { phone } message { campaign { databaseId } error { code } } } } } }`;
    const list = async (filter: object | null) => dataOf(await of.ask(recipients, { id, filter })).campaign.recipients;
    const all = await list(null);
    expect([all.totalCount, all.pageInfo.hasNextPage, all.nodes.length]).toEqual([7, true, 3]);
    expect(all.nodes.map(({ contact }: { contact: { phone: string } }) => contact.phone)).toEqual([
      first,
      second,
      third,
    ]);
    expect(all.nodes.map(({ hasOptedOut }: { hasOptedOut: boolean }) => hasOptedOut)).toEqual([false, true, false]);
    expect(all.nodes.map(({ repliedAt }: { repliedAt: string | null }) => repliedAt !== null)).toEqual([
      true,
      true,
      false,
    ]);
    expect(await list({ state: { eq: 'FAILED' } })).toMatchObject({
      totalCount: 1,
      nodes: [
        {
          state: 'FAILED',
          errorCode: 131_049,
          contact: { phone: bad },
          message: { campaign: { databaseId: id }, error: { code: 131_049 } },
        },
      ],
    });
    expect((await list({ state: { in: ['SKIPPED', 'PENDING'] } })).totalCount).toBe(0);
  });

  test('counts as sent what the network accepted, even where its failure is known first', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(1);
    const { emulator } = fixture.gateway;
    emulator.setFaults({ next: [{ to: phones[0] ?? '', asyncErrorCode: 131_049, when: 'after', latencyMs: 2_000 }] });
    const id = await of.campaign({ audience: { groupIds: [groupId] }, maxFailurePercent: 100 });
    await start(of, id);
    await eventually(async () => expect((await progressOf(of, id)).failed).toBe(1));
    expect(await progressOf(of, id)).toMatchObject({ sent: 1, failed: 1, delivered: 0 });
  });

  test('counts a tap on a button for the campaign of the message that has it', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(2);
    const [first = '', second = ''] = phones;
    const { phoneNumberId } = of;
    const { emulator } = fixture.gateway;
    const [earlier, later] = [await finished(of, groupId, 2), await finished(of, groupId, 2)];
    const tap = { type: 'button', from: first, text: 'Tell me more', replyTo: await wamidOf(earlier, first) } as const;
    emulator.inbound({ ...tap, phoneNumberId });
    emulator.inbound({ ...tap, phoneNumberId });
    await eventually(async () => expect((await progressOf(of, earlier)).replied).toBe(1));
    // What quotes nothing belongs to the latest.
    await eventually(async () => expect(await receivedBy(of)).toBe(2));
    emulator.inbound({ from: second, text: 'Yes', phoneNumberId });
    await eventually(async () => expect((await progressOf(of, later)).replied).toBe(1));
    expect((await progressOf(of, earlier)).replied).toBe(1);
  });

  test('leaves out what answers a message of no campaign, or comes after 72 hours', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(4);
    const [first = '', second = '', third = '', fourth = ''] = phones;
    const { phoneNumberId } = of;
    const { emulator } = fixture.gateway;
    const id = await finished(of, groupId, 4);
    const template = { name: 'notice', language: 'en' };
    const send = { to: { phone: first }, content: { template }, waitForAcceptance: true };
    const other = payloadOf(await of.mutate('sendMessage', send, 'message { wamid }')).message.wamid;
    const old = await wamidOf(id, third);
    await moveBack(id, [second, third]);
    emulator.inbound({ type: 'button', from: first, text: 'Where is it?', replyTo: other, phoneNumberId });
    emulator.inbound({ from: second, text: 'Too late', phoneNumberId });
    emulator.inbound({ type: 'button', from: third, text: 'Tell me more', replyTo: old, phoneNumberId });
    await eventually(async () => expect(await receivedBy(of)).toBe(3));
    // Counted behind the others.
    emulator.inbound({ from: fourth, text: 'Thanks', phoneNumberId });
    const list = `query ($id: ID!) { campaign(id: $id) { recipients(first: 4) { nodes { repliedAt contact { phone } } } } }`;
    const answered = async () =>
      dataOf(await of.ask(list, { id }))
        .campaign.recipients.nodes.filter(({ repliedAt }: { repliedAt: string | null }) => repliedAt !== null)
        .map(({ contact }: { contact: { phone: string } }) => contact.phone);
    await eventually(async () => expect(await answered()).toContain(fourth));
    expect(await answered()).toEqual([fourth]);
    expect((await progressOf(of, id)).replied).toBe(1);
  });

  test('counts no opt-out of before the message that an import records after it', async () => {
    const of = await fixture.sender();
    const { groupId, ids, phones } = await of.people(2);
    const [, second = ''] = phones;
    const id = await finished(of, groupId, 2);
    const occurredAt = new Date(Date.now() - 40 * 24 * 3_600_000).toISOString();
    const entry = {
      contactId: Number(ids[0]),
      category: 'all',
      state: 'opted_out',
      source: 'import',
      occurredAt,
    } as const;
    const author = { kind: 'system', id: null, name: 'Import' } as const;
    const { db } = fixture.gateway.gateway.resources;
    await db.transaction(trx => recordConsent(trx, of.id, [{ ...entry, evidence: 'Letter 12', author }]));
    // Counted behind the other.
    fixture.gateway.emulator.inbound({ from: second, text: 'STOP', phoneNumberId: of.phoneNumberId });
    const list = 'query ($id: ID!) { campaign(id: $id) { recipients { nodes { hasOptedOut } } } }';
    await eventually(async () =>
      expect(dataOf(await of.ask(list, { id })).campaign.recipients.nodes).toEqual([
        { hasOptedOut: false },
        { hasOptedOut: true },
      ]),
    );
    expect((await progressOf(of, id)).optedOut).toBe(1);
  });

  test('says why recipients were skipped, by reason, and lists those of one reason', async () => {
    const of = await fixture.sender();
    const { groupId, ids } = await of.people(4);
    for (const id of ids.slice(0, 2)) payloadOf(await of.mutate('updateContact', { id, isOptedOut: true }));
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    await start(of, id);
    const query = `query ($id: ID!, $filter: CampaignRecipientFilter) { campaign(id: $id) { status
      progress { skipped skips { reason count } } recipients(filter: $filter) { totalCount nodes { skipReason contact { databaseId } consentEntry { category contact { databaseId } } } } } }`;
    const read = async (filter: object) => dataOf(await of.ask(query, { id, filter })).campaign;
    await eventually(async () => expect((await read({})).status).toBe('COMPLETED'));
    const { progress, recipients } = await read({ skipReason: { eq: 'OPTED_OUT' } });
    expect(progress).toEqual({ skipped: 2, skips: [{ reason: 'OPTED_OUT', count: 2 }] });
    expect(recipients.totalCount).toBe(2);
    expect(recipients.nodes).toEqual(
      ids.slice(0, 2).map(databaseId => ({
        skipReason: 'OPTED_OUT',
        contact: { databaseId },
        consentEntry: { category: 'ALL', contact: { databaseId } },
      })),
    );
    expect((await read({ skipReason: { in: ['GONE', 'INVALID'] } })).recipients.totalCount).toBe(0);
    expect((await read({ skipReason: { isNull: true } })).recipients.totalCount).toBe(2);
  });

  test('names the opt-out because of which the network refused a message, and none for another failure', async () => {
    const of = await fixture.sender();
    const { groupId, phones } = await of.people(2);
    const [stopped = '', unreachable = ''] = phones;
    const { emulator } = fixture.gateway;
    emulator.setFaults({
      next: [
        { to: stopped, asyncErrorCode: 131_050 },
        { to: unreachable, asyncErrorCode: 131_026 },
      ],
    });
    const id = await of.campaign({
      audience: { groupIds: [groupId] },
      maxFailurePercent: 100,
      template: { name: 'sale', language: 'en', body: ['you', 'SUN'] },
    });
    await start(of, id);
    await eventually(async () => expect((await progressOf(of, id)).failed).toBe(2));
    const query = `query ($id: ID!) { campaign(id: $id) { recipients { nodes { errorCode consentEntry { category source } } } } }`;
    const nodes = async () => dataOf(await of.ask(query, { id })).campaign.recipients.nodes;
    await eventually(async () =>
      expect(await nodes()).toEqual([
        { errorCode: 131_050, consentEntry: { category: 'MARKETING', source: 'NETWORK' } },
        { errorCode: 131_026, consentEntry: null },
      ]),
    );
  });

  test('is streamed: first as it is, then as it changes, until the campaign is over', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(5);
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    const query = `subscription { campaign(id: "${id}") { status startedAt endedAt progress { ${PROGRESS} } } }`;
    const states: { status: string; progress: Record<string, unknown> }[] = [];
    const client = connect(fixture.gateway.url, of.token);
    client.subscribe<{ campaign: (typeof states)[number] }>(
      { query },
      {
        next: ({ data }) => void (data && states.push(data.campaign)),
        error: error => expect(error).toBeUndefined(),
        complete: () => undefined,
      },
    );
    await eventually(() => expect(states).toMatchObject([{ status: 'DRAFT', progress: { total: 0, read: 0 } }]));
    await start(of, id);
    await eventually(() =>
      expect(states.at(-1)).toMatchObject({ status: 'COMPLETED', progress: { total: 5, read: 5 } }),
    );
    // Nothing is taken back. A state may be there twice, where its progress changed while it was read.
    const read = states.map(({ progress }) => Number(progress['read']));
    expect(read).toEqual([...read].sort((a, b) => a - b));
    const statuses = ['DRAFT', 'RUNNING', 'COMPLETED'];
    expect(states.map(({ status }) => statuses.indexOf(status))).toEqual(
      states.map(({ status }) => statuses.indexOf(status)).sort(),
    );
    await client.dispose();
  });

  test('of a campaign that does not exist is no stream', async () => {
    const of = await fixture.sender();
    const query = 'subscription { campaign(id: "999999") { status } }';
    const client = connect(fixture.gateway.url, of.token);
    expect(JSON.stringify(await ask(client, query))).toContain('NOT_FOUND');
    await client.dispose();
  });
});

describe('a test of a campaign', () => {
  test('sends its message to one number, and counts for nothing', async () => {
    const of = await fixture.sender();
    const csv = `phone,code\n${newPhone()},FIRST`;
    const { recipientList } = payloadOf(
      await of.mutate('createRecipientList', { name: 'L', csv }, 'recipientList { databaseId }'),
    );
    const template = { name: 'sale', language: 'en', body: ['@{contact_first_name|you}', '@{column.code}'] };
    const id = await of.campaign({ template, audience: { listId: recipientList.databaseId } });
    const phone = newPhone();
    const input = { id, phone, idempotencyKey: `test ${id}` };
    const testIt = () =>
      of.mutate(
        'testCampaign',
        input,
        'message { databaseId content { ... on TemplateContent { rendered { body } } } }',
      );
    const [first, again] = [payloadOf(await testIt()), payloadOf(await testIt())];
    expect(first.message.content.rendered.body).toBe('Hello you, your code is FIRST.');
    expect(again.message.databaseId).toBe(first.message.databaseId);
    expect(Object.keys(faultsOf(await of.mutate('testCampaign', { id, phone: 'x' })))).toEqual(['phone']);
    expect(codeOf(await of.mutate('testCampaign', { id: '999999', phone }))).toBe('NOT_FOUND');
    expect(await progressOf(of, id)).toMatchObject({ total: 0, sent: 0 });
  });
});
