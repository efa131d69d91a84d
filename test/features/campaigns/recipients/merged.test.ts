import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { holdLock } from '../../../support/lock.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

/** Waits for the end of a campaign with two recipients who are one person now. */
async function expectOneMessage(of: Sender, id: string, phones: readonly string[]): Promise<void> {
  const text =
    'query ($id: ID!) { campaign(id: $id) { status progress { total pending sent skips { reason count } } } }';
  await eventually(async () =>
    expect(dataOf(await of.ask(text, { id })).campaign).toEqual({
      status: 'COMPLETED',
      progress: { total: 2, pending: 0, sent: 1, skips: [{ reason: 'DUPLICATE', count: 1 }] },
    }),
  );
  const sent = phones.flatMap(to => fixture.gateway.emulator.sent({ to, limit: 10 }).messages);
  expect(sent).toHaveLength(1);
}

test('answers and opt-outs of a person who was merged since count for the campaign', async () => {
  const of = await fixture.sender();
  const [messaged, other] = [await of.people(1), await of.people(1)];
  const id = await of.campaign({ audience: { groupIds: [messaged.groupId] } });
  dataOf(await of.mutate('startCampaign', { id }));
  const progress = async () =>
    dataOf(await of.ask('query ($id: ID!) { campaign(id: $id) { progress { read replied optedOut } } }', { id }))
      .campaign.progress;
  await eventually(async () => expect((await progress()).read).toBe(1));
  dataOf(await of.mutate('mergeContacts', { id: other.ids[0], fromIds: [messaged.ids[0]] }));
  fixture.gateway.emulator.inbound({ from: messaged.phones[0] ?? '', text: 'STOP', phoneNumberId: of.phoneNumberId });
  await eventually(async () => expect(await progress()).toEqual({ read: 1, replied: 1, optedOut: 1 }), 20_000);
});

test('two recipients who are merged between their choice and the acceptance of their messages get one', async () => {
  const of = await fixture.sender();
  const { groupId, ids, phones } = await of.people(2);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  const { database } = fixture.gateway;
  // The facts of sends are read from it, and nothing before.
  const lock = await holdLock(database, 'lock table erased_identities in access exclusive mode');
  dataOf(await of.mutate('startCampaign', { id }));
  const waits = /^\s*select i\.place/;
  await eventually(async () => expect(await lock.waiting()).toContainEqual(expect.stringMatching(waits)));
  dataOf(await of.mutate('mergeContacts', { id: ids[0], fromIds: [ids[1]] }));
  await lock.release();
  await expectOneMessage(of, id, phones);
});

test.each([
  ['of the first', 0],
  ['of the second', 1],
])(
  'the later message to two recipients who are merged into the contact %s while both wait is dropped',
  async (_which, kept) => {
    const of = await fixture.sender();
    const { groupId, ids, phones } = await of.people(2);
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    const { database } = fixture.gateway;
    // They wait for as long as this test needs them to.
    await database.query('update log_origin set outbox_held_at = now()');
    try {
      dataOf(await of.mutate('startCampaign', { id }));
      const queued = async () =>
        (await database.query<{ contact_id: string }>('select contact_id from outbox where tenant_id = $1', [of.id]))
          .length;
      await eventually(async () => expect(await queued()).toBe(2));
      dataOf(await of.mutate('mergeContacts', { id: ids[kept], fromIds: [ids[1 - kept]] }));
      await eventually(async () => expect(await queued()).toBe(1), 20_000);
    } finally {
      await database.query('update log_origin set outbox_held_at = null');
    }
    await expectOneMessage(of, id, phones);
  },
);

test('the later message to two recipients who are merged while both wait is not sent before it is dropped', async () => {
  const of = await fixture.sender();
  const { groupId, ids, phones } = await of.people(2);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  const { database } = fixture.gateway;
  await database.query('update log_origin set outbox_held_at = now()');
  const outbox = () =>
    database.query<{ hold_reason: string | null }>('select hold_reason from outbox where tenant_id = $1', [of.id]);
  try {
    dataOf(await of.mutate('startCampaign', { id }));
    await eventually(async () => expect(await outbox()).toHaveLength(2));
    // The campaign cannot drop it.
    const lock = await holdLock(database, 'select from campaigns where tenant_id = $1 and id = $2 for share', [
      of.id,
      id,
    ]);
    try {
      dataOf(await of.mutate('mergeContacts', { id: ids[0], fromIds: [ids[1]] }));
      await database.query('update log_origin set outbox_held_at = null');
      await eventually(async () => expect(await outbox()).toEqual([{ hold_reason: expect.stringMatching(/merged/) }]));
    } finally {
      await lock.release();
    }
  } finally {
    await database.query('update log_origin set outbox_held_at = null');
  }
  await expectOneMessage(of, id, phones);
});
