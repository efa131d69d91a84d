import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const statesOf = async (of: Sender, id: string) =>
  (
    await fixture.gateway.database.query<{ state: number }>(
      'select state from campaign_recipients where tenant_id = $1 and campaign_id = $2 order by contact_id',
      [of.id, id],
    )
  ).map(({ state }) => state);

describe('a recipient whose message is deleted while it waits', () => {
  /** Starts a campaign to some people, and changes them while their messages wait. */
  async function changeWaiting(
    of: Sender,
    { count, firstWave = count }: { readonly count: number; readonly firstWave?: number },
    change: (ids: readonly string[]) => Promise<void>,
  ) {
    const { groupId, ids } = await of.people(count);
    const id = await of.campaign({ audience: { groupIds: [groupId] }, firstWave });
    const { database } = fixture.gateway;
    await database.query('update log_origin set outbox_held_at = now()');
    try {
      dataOf(await of.mutate('startCampaign', { id }));
      await eventually(async () =>
        expect(await statesOf(of, id)).toEqual(
          ids.map((_, index) => (index < firstWave ? STATE.queued : STATE.pending)),
        ),
      );
      await change(ids);
      await eventually(async () => expect(await statesOf(of, id)).toContain(STATE.cancelled));
    } finally {
      await database.query('update log_origin set outbox_held_at = null');
    }
    return id;
  }

  const expectCounted = async (of: Sender, id: string, cancelled: number, read: number) =>
    expect(
      await fixture.gateway.database.query(
        'select cancelled, read from campaign_progress where tenant_id = $1 and campaign_id = $2',
        [of.id, id],
      ),
    ).toEqual([{ cancelled, read }]);

  test('with the contact does not stay queued', async () => {
    const of = await fixture.sender();
    const id = await changeWaiting(of, { count: 2 }, async ([first]) => {
      dataOf(await of.mutate('deleteContact', { id: first }, 'deletedId'));
    });
    await eventually(async () => expect(await statesOf(of, id)).toEqual([STATE.cancelled, STATE.read]));
    await expectCounted(of, id, 1, 1);
  });

  test('with the contact that theirs was merged into, once or twice, does not stay queued', async () => {
    const of = await fixture.sender();
    const { ids: others } = await of.people(2);
    const merge = async (id: string | undefined, former: string | undefined) =>
      dataOf(await of.mutate('mergeContacts', { id, fromIds: [former] }));
    const id = await changeWaiting(of, { count: 3 }, async ([twice, undone]) => {
      await merge(others[0], twice);
      await merge(others[1], others[0]);
      await merge(others[1], undone);
      dataOf(await of.mutate('undoMerge', { id: undone }));
      dataOf(await of.mutate('deleteContact', { id: others[1] }, 'deletedId'));
    });
    await eventually(async () => expect(await statesOf(of, id)).toEqual([STATE.cancelled, STATE.read, STATE.read]));
    await expectCounted(of, id, 1, 2);
  });

  test('is not waited for by the first wave', async () => {
    const of = await fixture.sender();
    const id = await changeWaiting(of, { count: 3, firstWave: 2 }, async ([first]) => {
      dataOf(await of.mutate('deleteContact', { id: first }, 'deletedId'));
    });
    await eventually(async () => expect(await statesOf(of, id)).toEqual([STATE.cancelled, STATE.read, STATE.read]));
  });
});

test('a first wave does not wait for the delivery to a recipient who was sent to and is deleted', async () => {
  const of = await fixture.sender();
  const { groupId, ids, phones } = await of.people(5);
  const id = await of.campaign({ audience: { groupIds: [groupId] }, firstWave: 2, firstWaveSeconds: 86_400 });
  const [phone] = phones;
  const { emulator } = fixture.gateway;
  const set = await fetch(`${emulator.url}/_emulator/phones`, {
    method: 'POST',
    body: JSON.stringify({ phone, isOffline: true, phoneNumberId: of.phoneNumberId }),
  });
  expect(set.status).toBe(200);
  dataOf(await of.mutate('startCampaign', { id }));
  const { sent, read: seen, pending } = STATE;
  await eventually(async () => expect(await statesOf(of, id)).toEqual([sent, seen, pending, pending, pending]));
  dataOf(await of.mutate('deleteContact', { id: ids[0] }, 'deletedId'));
  await eventually(async () => expect(await statesOf(of, id)).toEqual([sent, seen, seen, seen, seen]));
});

test('a recipient that is deleted as its message is accepted does not stay queued', async () => {
  const of = await fixture.sender();
  const { groupId, ids } = await of.people(2);
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  const { database } = fixture.gateway;
  await database.query('update log_origin set outbox_held_at = now()');
  // Holds the process between the acceptance of its messages and what it writes then, and not the reader.
  await database.query(
    `create function hold() returns trigger language plpgsql as $$
     begin
       while current_query() not like '%cross-tenant%' and exists (select from outbox where tenant_id = ${of.id})
         and exists (select from log_origin where outbox_held_at is not null) loop perform pg_sleep(0.05); end loop;
       return null;
     end $$`,
  );
  await database.query(
    'create trigger hold before update on campaign_recipients for each statement execute function hold()',
  );
  try {
    dataOf(await of.mutate('startCampaign', { id }));
    await eventually(async () =>
      expect(
        await database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
        ),
      ).not.toEqual([]),
    );
    dataOf(await of.mutate('deleteContact', { id: ids[0] }, 'deletedId'));
    await read(of);
  } finally {
    await database.query('update log_origin set outbox_held_at = null');
    await database.query('drop trigger hold on campaign_recipients');
  }
  await eventually(async () => expect(await statesOf(of, id)).toEqual([STATE.skipped, STATE.read]));
  const query = 'query ($id: ID!) { campaign(id: $id) { status progress { pending skipped sent } } }';
  await eventually(async () =>
    expect(dataOf(await of.ask(query, { id })).campaign).toEqual({
      status: 'COMPLETED',
      progress: { pending: 0, skipped: 1, sent: 1 },
    }),
  );
});
