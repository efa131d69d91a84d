import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

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
