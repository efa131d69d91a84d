import { afterAll, beforeAll, expect, test } from 'vitest';
import { STATE } from '../../../../src/features/campaigns/recipients/recipient.ts';
import { readBy } from '../../../events/past-events.ts';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const read = ({ id }: Sender): Promise<void> => readBy('campaigns', fixture.gateway, id);

/** Sends a text, and waits until the network has answered and the reader has seen it. */
async function sendText(of: Sender): Promise<void> {
  const input = { to: { phone: newPhone() }, content: { text: { body: 'Hello' } } };
  const { id } = payloadOf(await of.mutate('sendMessage', input, 'message { id }')).message;
  await eventually(async () => {
    const found = await of.ask('query ($id: ID!) { message(id: $id) { status } }', { id });
    expect(dataOf(found).message.status).not.toBe('QUEUED');
  });
  await read(of);
}

const counting = (): string[] => fixture.gateway.statements.filter(text => text.includes('campaign_progress as p'));

test('messages are counted for campaigns only while there is a recent one', async () => {
  const of = await fixture.sender();
  await sendText(of);
  expect(counting()).toEqual([]);

  const { groupId } = await of.people(1);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () => {
    const found = await of.ask('query ($id: ID!) { campaign(id: $id) { progress { read } } }', { id });
    expect(dataOf(found).campaign.progress.read).toBe(1);
  });
  expect(counting()).not.toEqual([]);

  await fixture.gateway.database.query(`update campaigns set last_message_at = now() - interval '36 days'`);
  await read(of);
  fixture.gateway.statements.length = 0;
  await sendText(of);
  expect(counting()).toEqual([]);
});

test('a recipient who is deleted while the message waits does not stay queued', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(2);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  const { database } = fixture.gateway;
  const states = async () =>
    (
      await database.query<{ state: number }>(
        'select state from campaign_recipients where tenant_id = $1 and campaign_id = $2 order by contact_id',
        [of.id, id],
      )
    ).map(({ state }) => state);
  await database.query('update log_origin set outbox_held_at = now()');
  try {
    dataOf(await of.mutate('startCampaign', { id }));
    await eventually(async () => expect(await states()).toEqual([STATE.queued, STATE.queued]));
    dataOf(await of.mutate('deleteContact', { id: ids[0] }, 'deletedId'));
    await eventually(async () => expect(await states()).toEqual([STATE.cancelled, STATE.queued]));
  } finally {
    await database.query('update log_origin set outbox_held_at = null');
  }
  await eventually(async () => expect(await states()).toEqual([STATE.cancelled, STATE.read]));
  expect(
    await database.query('select cancelled, read from campaign_progress where tenant_id = $1 and campaign_id = $2', [
      of.id,
      id,
    ]),
  ).toEqual([{ cancelled: 1, read: 1 }]);
});
