import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts';
import { createEndpoint, LOOPBACK } from '../../webhooks/setup.ts';
import { type CampaignFixture, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
let receiver: Receiver;
beforeAll(async () => {
  [fixture, receiver] = await Promise.all([startCampaignFixture({ env: LOOPBACK }), startReceiver()]);
});
afterAll(async () => {
  await fixture.gateway.stop();
  await receiver.stop();
});

test.each([368, 131_042])(
  'an endpoint is told, signed, that a campaign started and that it paused because the network reported %i',
  async code => {
    const of = await fixture.sender();
    const path = `/${code}`;
    const { secret } = await createEndpoint(
      fixture.gateway,
      { url: `${receiver.url}${path}`, events: ['campaign.*'] },
      of,
    );
    const { groupId, phones } = await of.people(5);
    const id = await of.campaign({
      audience: { groupIds: [groupId] },
      firstWaveSeconds: 60,
      maxFailurePercent: 100,
      firstWave: 1,
    });
    fixture.gateway.emulator.setFaults({ next: phones.map(to => ({ to, asyncErrorCode: code })) });
    dataOf(await of.mutate('startCampaign', { id }));
    await eventually(() => expect(receiver.at(path)).toHaveLength(2));
    const bodies = receiver.at(path).map(({ headers, text, body }) => {
      expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(body);
      return body;
    });
    expect(bodies).toMatchObject([
      { type: 'campaign.started', data: { campaign: { id: Number(id), status: 'running' } } },
      {
        type: 'campaign.paused',
        data: {
          campaign: { id: Number(id), status: 'paused', status_code: 'NETWORK_REFUSED' },
          reason: { code: 'NETWORK_REFUSED', details: expect.stringContaining(`(${code})`) },
        },
      },
    ]);
  },
);
