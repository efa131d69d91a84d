import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf, dataOf, payloadOf, userErrorsOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const CAMPAIGN = 'query ($id: ID!) { campaign(id: $id) { status statusCode statusReason } }';
const read = async (of: Sender, id: string) => dataOf(await of.ask(CAMPAIGN, { id })).campaign;
const start = async (of: Sender, id: string) => dataOf(await of.mutate('startCampaign', { id }));
const countsOf = async (of: Sender) => {
  const [row] = await fixture.gateway.database.query<{ sent: number; waiting: number }>(
    `select (select count(*)::int from message_states where tenant_id = $1 and status <> 'queued' and status <> 'cancelled') as sent,
       (select count(*)::int from outbox where tenant_id = $1) as waiting`,
    [of.id],
  );
  return row ?? { sent: 0, waiting: 0 };
};
const twice = (of: Sender) =>
  fixture.gateway.database.query(
    `select contact_id from messages m join message_states s on s.tenant_id = m.tenant_id and s.message_id = m.id
     where m.tenant_id = $1 and s.status <> 'cancelled' group by contact_id having count(*) > 1`,
    [of.id],
  );

/** Slower than any machine: it is not over before a test has stopped it. */
const SLOW = { messagesPerSecond: 1, firstWave: 1_000 };

/** Sends a campaign to one person. Turns and sends that were running before it have ended when it has. */
async function another(of: Sender): Promise<void> {
  const { groupId } = await of.people(1);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  await start(of, id);
  await eventually(async () => expect((await read(of, id)).status).toBe('COMPLETED'));
  await eventually(async () => expect((await countsOf(of)).waiting).toBe(0));
}

/** @returns how many messages were sent, if no more are */
async function sentInAll(of: Sender): Promise<number> {
  await another(of);
  const { sent } = await countsOf(of);
  await another(of);
  expect((await countsOf(of)).sent).toBe(sent + 1);
  return sent;
}

describe('a campaign', () => {
  test('that is paused sends nothing more until it is resumed, and then everybody gets it once', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(120);
    const id = await of.campaign({ audience: { groupIds: [groupId] }, ...SLOW });
    await start(of, id);
    await eventually(async () => expect((await countsOf(of)).sent).toBeGreaterThan(0));
    const { campaign } = payloadOf(await of.mutate('pauseCampaign', { id }, 'campaign { status statusCode }'));
    expect(campaign).toEqual({ status: 'PAUSED', statusCode: 'MANUAL' });
    const again = await of.mutate('pauseCampaign', { id });
    expect(codeOf(again)).toBe('CONFLICT');
    expect(userErrorsOf(again)).toMatchObject([
      { message: 'Cannot pause a campaign that is paused. It must be running.' },
    ]);
    expect(await sentInAll(of)).toBeLessThan(120);
    await fixture.gateway.database.query('update campaigns set messages_per_second = null where id = $1', [id]);
    dataOf(await of.mutate('resumeCampaign', { id }));
    await eventually(async () => expect((await read(of, id)).status).toBe('COMPLETED'));
    // And the two others.
    await eventually(async () => expect((await countsOf(of)).sent).toBe(122));
    expect(await twice(of)).toEqual([]);
  });

  test('that is cancelled sends nothing more, for good', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(120);
    const id = await of.campaign({ audience: { groupIds: [groupId] }, ...SLOW });
    await start(of, id);
    await eventually(async () => expect((await countsOf(of)).sent).toBeGreaterThan(0));
    dataOf(await of.mutate('cancelCampaign', { id }));
    expect(await sentInAll(of)).toBeLessThan(120);
    for (const action of ['startCampaign', 'pauseCampaign', 'resumeCampaign', 'cancelCampaign'])
      expect(codeOf(await of.mutate(action, { id }))).toBe('CONFLICT');
  });

  test('stops after its first wave if too many of its messages failed', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(40);
    const id = await of.campaign({ audience: { groupIds: [groupId] }, firstWave: 10 });
    fixture.gateway.emulator.setFaults({ asyncErrorCode: 131_049 });
    try {
      await start(of, id);
      await eventually(async () =>
        expect(await read(of, id)).toEqual({
          status: 'PAUSED',
          statusCode: 'FIRST_WAVE',
          statusReason: '10 of 10 messages failed, more than 20 %.',
        }),
      );
    } finally {
      fixture.gateway.emulator.setFaults({ asyncErrorCode: null });
    }
    expect((await countsOf(of)).sent).toBe(10);
    // Resumed in spite of that, the failures before do not count again.
    dataOf(await of.mutate('resumeCampaign', { id }));
    await eventually(async () => expect((await read(of, id)).status).toBe('COMPLETED'));
    expect(await twice(of)).toEqual([]);
  });

  test('pauses itself after the first wave when too many messages fail, with an event that says why', async () => {
    const of = await fixture.sender();
    // The first three get it first. The rest would take most of a minute.
    const { groupId, phones } = await of.people(200);
    const id = await of.campaign({ audience: { groupIds: [groupId] }, firstWave: 3, messagesPerSecond: 4 });
    const next = phones.slice(3).map(to => ({ to, asyncErrorCode: 131_049 }));
    fixture.gateway.emulator.setFaults({ next });
    await start(of, id);
    await eventually(async () => expect((await read(of, id)).status).toBe('PAUSED'));
    const { statusCode, statusReason } = await read(of, id);
    expect([statusCode, statusReason]).toEqual([
      'FAILURES',
      expect.stringMatching(/^\d+ of \d+ messages failed, more than 20 %\.$/),
    ]);
    const events = await fixture.gateway.database.query(
      `select payload->'reason' as reason from events where tenant_id = $1 and type = 'campaign.paused'`,
      [of.id],
    );
    expect(events).toEqual([{ reason: { code: statusCode, details: statusReason } }]);
  });

  test('pauses itself when the network refuses its messages for the account', async () => {
    const of = await fixture.sender();
    const { groupId } = await of.people(30);
    const id = await of.campaign({
      audience: { groupIds: [groupId] },
      firstWave: 5,
      firstWaveSeconds: 60,
      maxFailurePercent: 100,
    });
    fixture.gateway.emulator.setFaults({ asyncErrorCode: 131_048 });
    try {
      await start(of, id);
      await eventually(async () => expect((await read(of, id)).statusCode).toBe('NETWORK_REFUSED'));
    } finally {
      fixture.gateway.emulator.setFaults({ asyncErrorCode: null });
    }
    const events = await fixture.gateway.database.query<{ reason: { code: string } }>(
      `select payload->'reason' as reason from events where tenant_id = $1 and type = 'campaign.paused'`,
      [of.id],
    );
    expect(events.map(({ reason }) => reason.code)).toEqual(['NETWORK_REFUSED']);
  });
});
