import { expect, onTestFinished, test } from 'vitest';
import { runCampaigns } from '../../../../src/features/campaigns/run/drain.ts';
import { HOUR } from '../../../../src/platform/clock.ts';
import type { TestGateway } from '../../../support/gateway.ts';
import { testLane } from '../../../support/lane.ts';
import { startCampaignFixture } from '../fixture.ts';

/** A gateway without a worker, whose clock is some hours off. */
async function startOff(hours: number) {
  const { gateway, sender } = await startCampaignFixture({
    role: 'gateway',
    clock: { now: () => Date.now() + hours * HOUR },
  });
  onTestFinished(() => gateway.stop());
  return { gateway, of: await sender() };
}

/** A lane for some steps. */
const laneOf = (tenantId: number, id: string, steps: number) => {
  let left = steps;
  return { ...testLane('campaigns', tenantId, `${tenantId}:${id}`), ready: async () => left-- > 0 };
};

/** Schedules a campaign for a time by the database's clock. */
const begin = (gateway: TestGateway, id: string, interval: string) =>
  gateway.database.query(
    `update campaigns set status = 'scheduled', scheduled_at = now() + $2::interval where id = $1`,
    [id, interval],
  );

test.each([1, -1])('a process whose clock is %s h off starts scheduled campaigns at their time', async hours => {
  const { gateway, of } = await startOff(hours);
  const { groupId } = await of.people(1);
  const schedule = async (interval: string) => {
    const id = await of.campaign({ audience: { groupIds: [groupId] } });
    await begin(gateway, id, interval);
    await runCampaigns(gateway.gateway.resources)(laneOf(of.id, id, 1));
    const [row] = await gateway.database.query('select status from campaigns where id = $1', [id]);
    return row;
  };
  expect(await schedule('30 minutes')).toEqual({ status: 'scheduled' });
  expect(await schedule('-1 second')).toEqual({ status: 'running' });
});

test.each([12, -12])('a process whose clock is %s h off keeps to the sending hours of the recipients', async hours => {
  const { gateway, of } = await startOff(hours);
  const { groupId } = await of.people(1, { timeZone: 'UTC' });
  // Of now, and of twelve hours from now.
  const around = (ms: number) => {
    const timeOf = (at: number) => new Date(at).toISOString().slice(11, 16);
    return { start: timeOf(ms - 5 * HOUR), end: timeOf(ms + 5 * HOUR) };
  };
  const run = async (sendingHours: object) => {
    const id = await of.campaign({ audience: { groupIds: [groupId] }, sendingHours });
    await begin(gateway, id, '-1 second');
    await runCampaigns(gateway.gateway.resources)(laneOf(of.id, id, 6));
    return gateway.database.query(
      'select message_id is not null as has_message, due_at > now() as is_later from campaign_recipients where campaign_id = $1',
      [id],
    );
  };
  expect(await run(around(Date.now() + 12 * HOUR))).toEqual([{ has_message: false, is_later: true }]);
  expect(await run(around(Date.now()))).toEqual([{ has_message: true, is_later: null }]);
});
