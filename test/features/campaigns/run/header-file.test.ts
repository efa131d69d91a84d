import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { mediaOf } from '../../messages/content/media/client.ts';
import { PNG } from '../../messages/content/media/files.ts';
import { type CampaignFixture, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());

test('the file of a header is uploaded once, and all recipients get that one', async () => {
  const { gateway } = fixture;
  const of = await fixture.sender();
  const { groupId, phones } = await of.people(12);
  const mediaId = await mediaOf(gateway, of.token).uploaded(PNG);
  const template = { name: 'photo', language: 'en', header: { image: { mediaId } } };
  const id = await of.campaign({ template, audience: { groupIds: [groupId] }, firstWave: 5 });
  dataOf(await of.mutate('startCampaign', { id }));
  const query = 'query ($id: ID!) { campaign(id: $id) { status progress { delivered } } }';
  await eventually(async () =>
    expect(dataOf(await of.ask(query, { id })).campaign).toEqual({ status: 'COMPLETED', progress: { delivered: 12 } }),
  );
  const files = phones.map(to => {
    const [sent] = gateway.emulator.sent({ to }).messages;
    const { components } = (sent?.content ?? {}) as { components?: { parameters: { image?: { id: string } }[] }[] };
    return components?.[0]?.parameters[0]?.image?.id;
  });
  expect(files[0]).toMatch(/^\d+$/);
  expect(new Set(files).size).toBe(1);
});
