import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { postWebhook } from '../../../support/network-webhook.ts';
import { type CampaignFixture, type People, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const HOUR = 3_600_000;

/** A campaign whose messages everybody has read. */
async function finished(of: Sender, { groupId, ids }: People): Promise<string> {
  const id = await of.campaign({ audience: { groupIds: [groupId] } });
  dataOf(await of.mutate('startCampaign', { id }));
  await eventually(async () => {
    const found = await of.ask('query ($id: ID!) { campaign(id: $id) { progress { read } } }', { id });
    expect(dataOf(found).campaign.progress.read).toBe(ids.length);
  });
  return id;
}

/** Makes the messages of a campaign older: their ids have the time. */
const moveBack = (id: string, hours: number) =>
  fixture.gateway.database.query(
    `with moved as (
       select r.tenant_id, r.message_id as id,
         (left(uuid_at(now() - $2::integer * interval '1 hour')::text, 13) || right(r.message_id::text, 23))::uuid as earlier
       from campaign_recipients r where r.campaign_id = $1
     ), messages as (
       update messages m set id = v.earlier from moved v where m.tenant_id = v.tenant_id and m.id = v.id
     ), wamids as (
       update message_wamids w set message_id = v.earlier from moved v where w.tenant_id = v.tenant_id and w.message_id = v.id
     )
     update campaign_recipients r set message_id = v.earlier from moved v where r.tenant_id = v.tenant_id and r.message_id = v.id`,
    [id, hours],
  );

async function wamidOf(id: string, contactId: string | undefined): Promise<string> {
  const [row] = await fixture.gateway.database.query<{ wamid: string }>(
    `select w.wamid from campaign_recipients r join message_wamids w on w.tenant_id = r.tenant_id and w.message_id = r.message_id
     where r.campaign_id = $1 and r.contact_id = $2`,
    [id, contactId],
  );
  return row?.wamid ?? '';
}

/** Has the network deliver an answer now that was written earlier; it repeats webhooks for days. */
async function deliver(of: Sender, phone: string | undefined, writtenMs: number, quoted?: string): Promise<void> {
  const from = phone?.slice(1) ?? '';
  const message = {
    from,
    id: `wamid.late-${from}`,
    timestamp: String(Math.floor(writtenMs / 1_000)),
    type: 'text',
    text: { body: 'Hello' },
    ...(quoted !== undefined && { context: { id: quoted } }),
  };
  await postWebhook(fixture.gateway, of, {
    contacts: [{ wa_id: from, profile: { name: 'Ana' } }],
    messages: [message],
  });
}

/** @returns when recipients answered, in the order of their contacts, once as many answers are counted as are given */
async function answersOf(of: Sender, id: string, count: number): Promise<readonly (string | null)[]> {
  const query = 'query ($id: ID!) { campaign(id: $id) { progress { replied } recipients { nodes { repliedAt } } } }';
  const read = async () => dataOf(await of.ask(query, { id })).campaign;
  await eventually(async () => expect((await read()).progress.replied).toBe(count));
  return (await read()).recipients.nodes.map(({ repliedAt }: { repliedAt: string | null }) => repliedAt);
}

describe('an answer that the network delivers late', () => {
  test('counts by when it was written: within 72 hours after the message', async () => {
    const of = await fixture.sender();
    const people = await of.people(4);
    const { ids, phones } = people;
    const id = await finished(of, people);
    await moveBack(id, 75);
    const within = Math.floor(Date.now() / 1_000) * 1_000 - 4 * HOUR;
    await deliver(of, phones[2], Date.now() - 2 * HOUR);
    await deliver(of, phones[3], Date.now() - 2 * HOUR, await wamidOf(id, ids[3]));
    await deliver(of, phones[0], within);
    await deliver(of, phones[1], within, await wamidOf(id, ids[1]));
    const answers = await answersOf(of, id, 2);
    expect(answers.map(at => (at === null ? null : Math.floor(Date.parse(at) / 1_000) * 1_000))).toEqual([
      within,
      within,
      null,
      null,
    ]);
  });

  test('is none to a message that was sent after it was written', async () => {
    const of = await fixture.sender();
    const people = await of.people(2);
    const { phones } = people;
    const id = await finished(of, people);
    await deliver(of, phones[0], Date.now() - HOUR);
    // Counted behind the other.
    await deliver(of, phones[1], Date.now());
    expect(await answersOf(of, id, 1)).toEqual([null, expect.any(String)]);
  });

  test('belongs to the campaign that was the latest when it was written', async () => {
    const of = await fixture.sender();
    const people = await of.people(1);
    const earlier = await finished(of, people);
    await moveBack(earlier, 5);
    const later = await finished(of, people);
    await deliver(of, people.phones[0], Date.now() - 4 * HOUR);
    expect(await answersOf(of, earlier, 1)).toEqual([expect.any(String)]);
    expect(await answersOf(of, later, 0)).toEqual([null]);
  });
});
