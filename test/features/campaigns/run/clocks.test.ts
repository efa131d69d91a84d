import { expect, onTestFinished, test } from 'vitest';
import { runCampaigns } from '../../../../src/features/campaigns/run/drain.ts';
import { HOUR } from '../../../../src/platform/clock.ts';
import { testLane } from '../../../support/lane.ts';
import { startCampaignFixture } from '../fixture.ts';

test.each([1, -1])('a process whose clock is %s h off starts scheduled campaigns at their time', async hours => {
  const { gateway, sender } = await startCampaignFixture({
    role: 'gateway',
    clock: { now: () => Date.now() + hours * HOUR },
  });
  onTestFinished(() => gateway.stop());
  const of = await sender();
  const { groupId } = await of.people(1);
  const schedule = async (interval: string) => {
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    await gateway.database.query(
      `update campaigns set status = 'scheduled', scheduled_at = now() + $2::interval where id = $1`,
      [id, interval],
    );
    // One step.
    let steps = 0;
    const lane = { ...testLane('campaigns', of.id, `${of.id}:${id}`), ready: async () => steps++ === 0 };
    await runCampaigns(gateway.gateway.resources)(lane);
    const [row] = await gateway.database.query('select status from campaigns where id = $1', [id]);
    return row;
  };
  expect(await schedule('30 minutes')).toEqual({ status: 'scheduled' });
  expect(await schedule('-1 second')).toEqual({ status: 'running' });
});
