import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

const STATES = '{ campaigns(orderBy: [{ field: ID, direction: ASC }]) { nodes { status progress { sent total } } } }';

test('a campaign with a rate of its own is sent beside one that uses the whole rate of the channel', async () => {
  const of = await fixture.sender();
  const [many, few] = [await of.people(450), await of.people(2)];
  const { channels } = dataOf(await of.ask('{ channels { nodes { databaseId } } }'));
  dataOf(await of.mutate('updateChannel', { id: channels.nodes[0].databaseId, messagesPerSecond: 10 }));
  const fast = await of.campaign({ audience: { groupIds: [many.groupId] }, firstWave: 450 });
  const slow = await of.campaign({ audience: { groupIds: [few.groupId] }, messagesPerSecond: 1 });
  dataOf(await of.mutate('startCampaign', { id: fast }));
  await eventually(async () =>
    expect(dataOf(await of.ask(STATES)).campaigns.nodes[0].progress.sent).toBeGreaterThan(0),
  );
  dataOf(await of.mutate('startCampaign', { id: slow }));
  await eventually(async () =>
    expect(dataOf(await of.ask(STATES)).campaigns.nodes).toMatchObject([
      { status: 'RUNNING' },
      { status: 'COMPLETED', progress: { sent: 2 } },
    ]),
  );
});
