import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeGlobalId } from '../../../../src/core/global-ids.ts';
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

test('the file of a header is shown before it is sent and with each message; of a link, the link', async () => {
  const { gateway } = fixture;
  const of = await fixture.sender();
  const { groupId, phones } = await of.people(1);
  const mediaId = await mediaOf(gateway, of.token).uploaded(PNG);
  const content =
    'content { ... on TemplateContent { headerMedia { kind mediaId mimeType size link isAvailable url thumbnailUrl path } } }';
  const upload = { kind: 'IMAGE', mimeType: 'image/png', size: PNG.length, link: null, isAvailable: true };
  const campaign = async (image: object) => {
    const template = { name: 'photo', language: 'en', header: { image } };
    const id = await of.campaign({ template, audience: { groupIds: [groupId] } });
    return dataOf(await of.ask(`query ($id: ID!) { campaign(id: $id) { ${content} } }`, { id })).campaign.content
      .headerMedia;
  };
  const message = async (image: object) => {
    const template = { name: 'photo', language: 'en', header: { image } };
    const sent = await of.mutate(
      'sendMessage',
      { to: { phone: phones[0] }, content: { template } },
      `message { ${content} }`,
    );
    return dataOf(sent).sendMessage.message.content.headerMedia;
  };
  for (const media of [await campaign({ mediaId }), await message({ mediaId })]) {
    expect(media).toMatchObject({ ...upload, mediaId: encodeGlobalId('Media', of.id, mediaId) });
    for (const url of [media.url, media.thumbnailUrl]) {
      const response = await fetch(new URL(url, gateway.url));
      expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^image\//)]);
    }
    expect(Buffer.from(await (await fetch(new URL(media.url, gateway.url))).arrayBuffer())).toEqual(PNG);
  }
  const link = 'https://pictures.example/1.png';
  for (const media of [await campaign({ link }), await message({ link })])
    expect(media).toMatchObject({
      kind: 'IMAGE',
      link,
      url: link,
      path: link,
      thumbnailUrl: null,
      mediaId: null,
      isAvailable: true,
    });
});
