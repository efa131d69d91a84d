import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_BACKLOGS } from '../../src/app/lanes/backlogs.ts';
import { type CampaignFixture, startCampaignFixture } from '../features/campaigns/fixture.ts';
import { dataOf, payloadOf } from '../support/answers.ts';
import { eventually } from '../support/gateway.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const LANES = '{ lanes { queue subjectId state waitingCount oldestAt } }';

test('an account that ran a campaign sees all of its lanes, the campaign among them', async () => {
  const sender = await fixture.sender();
  const { groupId } = await sender.people(3);
  const id = await sender.campaign({ audience: { groupIds: [groupId] } });
  const started = await sender.mutate('startCampaign', { id }, 'campaign { id }');
  const campaignId = payloadOf(started).campaign.id;
  await eventually(async () => {
    const { lanes } = dataOf(await sender.ask(LANES));
    expect(lanes).toContainEqual(expect.objectContaining({ queue: 'CAMPAIGNS', subjectId: campaignId }));
  });
});

test('a lane of any queue that a worker drains can be listed', async () => {
  const sender = await fixture.sender();
  const queues = Object.keys(ACCOUNT_BACKLOGS);
  await fixture.gateway.database.query(
    'insert into lanes (tenant_id, queue, key, epoch, taken_at) select $1::bigint, queue, concat($1::bigint, $2::text), 1, now() from unnest($3::text[]) queue',
    [sender.id, ':1', queues],
  );
  const { lanes } = dataOf(await sender.ask(LANES));
  const listed = lanes.map(({ queue }: { queue: string }) => queue);
  expect(listed).toEqual(expect.arrayContaining(queues.map(queue => queue.toUpperCase().replaceAll('-', '_'))));
});
