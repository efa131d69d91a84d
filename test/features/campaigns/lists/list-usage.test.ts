import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanLists } from '../../../../src/features/campaigns/housekeeping.ts';
import { codeOf, dataOf, faultsOf, payloadOf } from '../../../support/answers.ts';
import { newPhone } from '../../../support/seed.ts';
import { type CampaignFixture, type Sender, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
let sender: Sender;
beforeAll(async () => {
  fixture = await startCampaignFixture();
  sender = await fixture.sender();
});
afterAll(() => fixture.gateway.stop());

const upload = async (): Promise<string> => {
  const csv = `phone\n${newPhone()}\n${newPhone()}`;
  const answer = await sender.mutate('createRecipientList', { name: 'List', csv }, 'recipientList { databaseId }');
  return payloadOf(answer).recipientList.databaseId;
};
const listed = async (): Promise<string[]> =>
  dataOf(await sender.ask('{ recipientLists(first: 50) { nodes { databaseId } } }')).recipientLists.nodes.map(
    ({ databaseId }: { databaseId: string }) => databaseId,
  );
const contacts = async (): Promise<number> =>
  dataOf(await sender.ask('{ contacts(first: 1) { totalCount } }')).contacts.totalCount;
const age = (table: 'campaign_lists' | 'campaigns', columns: string, ids: readonly string[], days: number) =>
  fixture.gateway.database.query(
    `update ${table} set ${columns
      .split(' ')
      .map(column => `${column} = now() - $2 * interval '1 day'`)
      .join(', ')} where tenant_id = $1 and id = any($3::bigint[])`,
    [sender.id, days, ids],
  );

test('a list is deleted 30 days after its last use, never while a campaign that is not over has it, and its people stay', async () => {
  const [unused, recent, drafted, justOver, longOver] = [
    await upload(),
    await upload(),
    await upload(),
    await upload(),
    await upload(),
  ];
  const draft = await sender.campaign({ audience: { listId: drafted } });
  const over = [
    await sender.campaign({ audience: { listId: justOver } }),
    await sender.campaign({ audience: { listId: longOver } }),
  ];
  // It is over without a message: nothing here waits for a worker.
  for (const id of over) {
    dataOf(await sender.mutate('startCampaign', { id, scheduledAt: '2099-01-01T00:00:00Z' }));
    dataOf(await sender.mutate('cancelCampaign', { id }));
  }
  const query = 'query ($id: ID!) { campaign(id: $id) { status audience { list { databaseId } } } }';
  const read = async (id: string) => dataOf(await sender.ask(query, { id })).campaign;
  const people = await contacts();
  await age('campaign_lists', 'updated_at', [unused, drafted, justOver, longOver], 31);
  await age('campaign_lists', 'updated_at', [recent], 29);
  await age('campaigns', 'updated_at', [draft], 31);
  await age('campaigns', 'updated_at ended_at', [over[0] ?? ''], 29);
  await age('campaigns', 'updated_at ended_at', [over[1] ?? ''], 31);
  await cleanLists(fixture.gateway.gateway.resources);
  expect((await listed()).toSorted()).toEqual([recent, drafted, justOver].toSorted());
  expect(await contacts()).toBe(people);
  expect(await read(over[1] ?? '')).toEqual({ status: 'CANCELLED', audience: { list: null } });
});

test('a list that is being deleted is not taken for a campaign, and one that a campaign takes is not deleted', async () => {
  const [first, second] = [await upload(), await upload()];
  const base = { name: 'News', template: { name: 'notice', language: 'en' } };
  const outcomes = await Promise.all(
    [first, second].flatMap(id => [
      sender.mutate('createCampaign', { ...base, audience: { listId: id } }),
      sender.mutate('deleteRecipientList', { id }),
    ]),
  );
  const remaining = await listed();
  for (const [place, id] of [first, second].entries()) {
    const [created, deleted] = outcomes.slice(2 * place);
    if (!created || !deleted) throw new Error('An answer is missing.');
    if (remaining.includes(id)) expect(codeOf(deleted)).toBe('CONFLICT');
    else expect(Object.keys(faultsOf(created))).toEqual(['audience.listId']);
  }
});
