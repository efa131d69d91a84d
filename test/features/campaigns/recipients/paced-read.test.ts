import { afterAll, beforeAll, expect, test } from 'vitest';
import { followCampaign } from '../../../../src/features/campaigns/recipients/follow.ts';
import { PacedRead } from '../../../../src/features/campaigns/recipients/paced-read.ts';
import { actFor } from '../../../../src/features/tenancy/tenants/act.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { type CampaignFixture, startCampaignFixture } from '../fixture.ts';

let fixture: CampaignFixture;
beforeAll(async () => {
  fixture = await startCampaignFixture();
});
afterAll(() => fixture.gateway.stop());
test('a read is repeated after 20 times as long as it took, or if it has to be exact', async () => {
  let nowMs = 0;
  let count = 0;
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  const paced = new PacedRead(clock, () => {
    nowMs += 500;
    count += 1;
    return Promise.resolve(count);
  });
  expect(await paced.next(false)).toBe(1);
  nowMs += 9_999;
  expect(await paced.next(false)).toBe(1);
  nowMs += 1;
  expect(await paced.next(false)).toBe(2);
  expect(await paced.next(true)).toBe(3);
  expect(await paced.next(false)).toBe(3);
});

test('a read that fails is tried again the next time', async () => {
  let isAway = true;
  const paced = new PacedRead({ now: () => 0, monotonic: () => 0 }, () =>
    isAway ? Promise.reject(new Error('Away.')) : Promise.resolve('there'),
  );
  await expect(paced.next(false)).rejects.toThrow('Away.');
  isAway = false;
  expect(await paced.next(false)).toBe('there');
});

test('a stream of a campaign reads a cost that takes long less often than the progress', async () => {
  const of = await fixture.sender();
  const { groupId } = await of.people(1);
  const audience = { groupIds: [groupId] };
  const [id, other] = [await of.campaign({ audience }), await of.campaign({ audience })];
  const { gateway } = fixture;
  const count = (part: string): number => gateway.statements.filter(text => text.includes(part)).length;
  const costs = (): number => count('width_bucket');
  const progress = (): number => count('from "campaign_failures"');
  const context = await actFor(gateway.gateway.resources, of.id, 'campaigns', ['campaigns:read']);
  if (!context) throw new Error('The tenant is suspended.');
  // A read of the cost takes a second, anything else no time.
  const clock = { now: () => Date.now(), monotonic: () => costs() * 1_000 };
  const prices = { boundaries: [], priceOf: () => undefined };
  const stream = await followCampaign({ ...context, clock, prices }, Number(id));
  await stream.next();
  const next = stream.next();
  dataOf(await of.mutate('startCampaign', { id: other, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }));
  dataOf(await of.mutate('cancelCampaign', { id: other }));
  await eventually(() => expect(progress() - costs()).toBeGreaterThanOrEqual(2));
  await stream.return(undefined);
  await next;
});
