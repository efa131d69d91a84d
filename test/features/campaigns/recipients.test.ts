import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { ask, connect } from '../events/subscriber.ts';
import { type CampaignGround, type Sender, startCampaignGround } from './ground.ts';

let ground: CampaignGround;
beforeAll(async () => {
  ground = await startCampaignGround();
});
afterAll(() => ground.gateway.stop());

const PROGRESS =
  'total pending skipped sent delivered read replied failed optedOut cost { amount currency } failures { code title count }';
const progressOf = async (of: Sender, id: string) =>
  dataOf(await of.ask(`query ($id: ID!) { campaign(id: $id) { status progress { ${PROGRESS} } } }`, { id })).campaign
    .progress;
const start = async (of: Sender, id: string) => dataOf(await of.mutate('startCampaign', { id }));

describe('the progress of a campaign', () => {
  test('counts what became of its messages, and attributes answers, taps and opt-outs to it once each', async () => {
    const of = await ground.sender();
    const { groupId, phones } = await of.people(6);
    const [first = '', second = '', third = ''] = phones;
    const bad = newPhone();
    await of.mutate('createContact', { phone: bad, groupIds: [groupId] });
    ground.gateway.emulator.setFaults({ next: [{ to: bad, asyncErrorCode: 131_049, count: 3 }] });
    const id = await of.campaign({ audience: { groupIds: [groupId] }, maxFailurePercent: 100 });
    await start(of, id);
    await eventually(async () => expect((await progressOf(of, id)).read).toBe(6));
    await eventually(async () => expect((await progressOf(of, id)).failed).toBe(1));
    const { emulator } = ground.gateway;
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

  test('says why recipients were skipped, by reason, and lists those of one reason', async () => {
    const of = await ground.sender();
    const { groupId, ids } = await of.people(4);
    for (const id of ids.slice(0, 2)) payloadOf(await of.mutate('updateContact', { id, isOptedOut: true }));
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    await start(of, id);
    const query = `query ($id: ID!, $filter: CampaignRecipientFilter) { campaign(id: $id) { status
      progress { skipped skips { reason count } } recipients(filter: $filter) { totalCount nodes { skipReason contact { databaseId } } } } }`;
    const read = async (filter: object) => dataOf(await of.ask(query, { id, filter })).campaign;
    await eventually(async () => expect((await read({})).status).toBe('COMPLETED'));
    const { progress, recipients } = await read({ skipReason: { eq: 'OPTED_OUT' } });
    expect(progress).toEqual({ skipped: 2, skips: [{ reason: 'OPTED_OUT', count: 2 }] });
    expect(recipients.totalCount).toBe(2);
    expect(recipients.nodes).toEqual(
      ids.slice(0, 2).map(databaseId => ({ skipReason: 'OPTED_OUT', contact: { databaseId } })),
    );
    expect((await read({ skipReason: { in: ['GONE', 'INVALID'] } })).recipients.totalCount).toBe(0);
    expect((await read({ skipReason: { isNull: true } })).recipients.totalCount).toBe(2);
  });

  test('is streamed: first as it is, then as it changes, until the campaign is over', async () => {
    const of = await ground.sender();
    const { groupId } = await of.people(5);
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    const query = `subscription { campaign(id: "${id}") { status startedAt endedAt progress { ${PROGRESS} } } }`;
    const states: { status: string; progress: Record<string, unknown> }[] = [];
    const client = connect(ground.gateway.url, of.token);
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
    const of = await ground.sender();
    const query = 'subscription { campaign(id: "999999") { status } }';
    const client = connect(ground.gateway.url, of.token);
    expect(JSON.stringify(await ask(client, query))).toContain('NOT_FOUND');
    await client.dispose();
  });
});

describe('a test of a campaign', () => {
  test('sends its message to one number, and counts for nothing', async () => {
    const of = await ground.sender();
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
