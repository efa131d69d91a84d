import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_AGE_MS } from '../../../src/features/bots/engine/decide.ts';
import { MINUTE } from '../../../src/platform/clock.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Fixture, startFixture } from './fixture.ts';

/** Due times are the clock of the database: a process whose own clock is wrong answers neither early nor late. */

const MINUTES = [5, -5];
let fixtures: Fixture[];
beforeAll(async () => {
  fixtures = await Promise.all(
    MINUTES.map(minutes => startFixture({ clock: { now: () => Date.now() + minutes * MINUTE } })),
  );
});
afterAll(() => Promise.all(fixtures.map(({ gateway }) => gateway.stop())));

describe.each(MINUTES.map((minutes, index) => ({ minutes, index })))(
  'a clock that is $minutes minutes off',
  ({ index }) => {
    test('a reply that could not be sent is due again after seconds', async () => {
      const fixture = fixtures[index] as Fixture;
      const { query } = fixture.gateway.database;
      const owner = await fixture.tenant();
      await owner.bot();
      const setChannel = (status: string) =>
        query('update channels set status = $2 where tenant_id = $1', [owner.id, status]);
      const person = newPhone();
      await setChannel('paused');
      await owner.hears(person, 'hi');
      const waits: number[] = [];
      await eventually(async () => {
        const [row] = await query<{ attempts: number; wait: number }>(
          `select attempts, extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from bot_replies where tenant_id = $1`,
          [owner.id],
        );
        waits.push(Math.abs(row?.wait ?? 0));
        expect(row?.attempts).toBeGreaterThan(1);
      });
      expect(Math.max(...waits)).toBeLessThan(60);
      await setChannel('active');
      expect(await owner.answers(person, 1)).toEqual(['Hello!']);
    });

    test('a message is answered within five minutes of being written, and not later', async () => {
      const fixture = fixtures[index] as Fixture;
      const owner = await fixture.tenant();
      await owner.bot();
      const [recent, late] = [newPhone(), newPhone()];
      fixture.setNetworkClock(MINUTE - MAX_AGE_MS);
      await owner.hears(recent, 'hi');
      fixture.setNetworkClock(-MAX_AGE_MS - MINUTE);
      await owner.hears(late, 'hi');
      fixture.setNetworkClock(0);
      expect(await owner.answers(recent, 1)).toEqual(['Hello!']);
      await owner.settled();
      expect(await owner.skips()).toMatchObject([{ reason: 'TOO_OLD' }]);
      expect(await owner.answers(late, 0)).toEqual([]);
    });
  },
);
