import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../../../src/platform/clock.ts';
import { eventually } from '../../../support/gateway.ts';
import { type Fixture, startFixture } from '../fixture.ts';
import { wooOrder } from '../fixtures.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
beforeEach(() => fixture.gateway.emulator.resetFaults());
afterAll(() => fixture.gateway.stop());

describe('a transient fault', () => {
  /** Makes the database refuse a statement until it is mended. */
  const breakTable = async (table: string, event = 'insert') => {
    const { query } = fixture.gateway.database;
    await query(
      `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
    );
    await query(`create trigger refuse before ${event} on ${table} for each row execute function refuse()`);
    return () => query(`drop trigger refuse on ${table}`);
  };

  test('is retried later, without delaying other payloads', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    const mend = await breakTable('integration_acts');
    await shop.post(wooOrder());
    const waiting = () =>
      tenant.data(
        '{ integrationDeliveries { nodes { outcome attempts nextAttemptAt results { outcome reason { code } } } } }',
      );
    await eventually(async () =>
      expect((await waiting()).integrationDeliveries.nodes).toMatchObject([
        { outcome: 'WAITING', attempts: 1, results: [{ outcome: 'FAILED', reason: { code: 'FAULT' } }] },
      ]),
    );
    await mend();
    await shop.post(wooOrder({ id: 2 }));
    await eventually(async () => expect(await tenant.sent()).toHaveLength(1));
    await fixture.pass(5_000);
    fixture.gateway.gateway.resources.lanes.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    expect((await shop.settled()).map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
      ['ACTED', 2],
      ['ACTED', 1],
    ]);
    expect(await tenant.sent()).toHaveLength(2);
  });

  test('after the template was sent does not send it again, and the outcome is correct', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    const mend = await breakTable('integration_acts', 'update');
    await shop.post(wooOrder());
    await eventually(async () => expect(await tenant.sent()).toHaveLength(1));
    await eventually(async () =>
      expect(
        (await tenant.data('{ integrationDeliveries { nodes { attempts results { outcome } } } }'))
          .integrationDeliveries.nodes,
      ).toEqual([{ attempts: 1, results: [{ outcome: 'FAILED' }] }]),
    );
    await mend();
    // Another payload of the order and status comes first, with other words: it finds the message of the first.
    await shop.post(wooOrder({ billing: { first_name: 'Anna' } }));
    await fixture.pass(MINUTE);
    fixture.gateway.gateway.resources.lanes.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    const deliveries = await shop.settled();
    expect(await tenant.sent()).toHaveLength(1);
    expect(new Set(deliveries.map(({ results }) => results[0]?.messageId)).size).toBe(1);
  });

  test('that persists fails after four hours, and the payload can be replayed', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    const mend = await breakTable('integration_acts');
    await shop.post(wooOrder());
    const attempts = async () =>
      (await tenant.data('{ integrationDeliveries { nodes { databaseId outcome attempts nextAttemptAt } } }'))
        .integrationDeliveries.nodes[0];
    await eventually(async () => expect((await attempts()).attempts).toBe(1));
    // As it stands after the pauses before the last attempt: 5 s, 30 s, 2, 10 and 30 min, 1 h.
    await eventually(async () => {
      const due =
        'update integration_deliveries set attempts = 6 where tenant_id = $1 and claim is null returning due_at';
      expect(await fixture.gateway.database.query(due, [tenant.id])).toHaveLength(1);
    });
    for (const [attempt, pauseMs] of [
      [7, 5_000],
      [8, 2 * HOUR],
    ] as const) {
      await fixture.pass(pauseMs);
      fixture.gateway.gateway.resources.lanes.wake('integrations', `${tenant.id}:${shop.databaseId}`);
      await eventually(async () => expect((await attempts()).attempts).toBe(attempt));
      // Let go of: given up, or to be tried again in two hours.
      await eventually(async () => {
        const { outcome, nextAttemptAt } = await attempts();
        const inAnHour = fixture.gateway.gateway.resources.clock.now() + HOUR;
        expect(outcome === 'FAILED' || Date.parse(nextAttemptAt) > inAnHour).toBe(true);
      });
    }
    expect(await attempts()).toMatchObject({ outcome: 'FAILED', attempts: 8 });
    await mend();
    const { databaseId } = await attempts();
    await tenant.run('replayIntegrationDelivery', { id: databaseId }, 'integrationDelivery { outcome }');
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED']);
    expect(await tenant.sent()).toHaveLength(1);
  });
});

describe('a process that dies', () => {
  test('while processing a payload leaves it to another, and completed work is not repeated', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.settled();
    // As if the process had died between the end of the act and that of the delivery.
    await fixture.gateway.database.query(
      "update integration_deliveries set outcome = 'waiting', claim = gen_random_uuid(), due_at = $2::timestamptz, results = '[]' where tenant_id = $1",
      [tenant.id, new Date(Date.now() - 1_000).toISOString()],
    );
    fixture.gateway.gateway.resources.lanes.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    expect(await shop.settled()).toMatchObject([{ outcome: 'ACTED' }]);
    expect(await tenant.sent()).toHaveLength(1);
    expect(await tenant.events()).toHaveLength(1);
  });

  test('between claim and send leaves the act to the next process; after a day the outcome counts as unknown', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    const claim = (order: string, ageMs: number) =>
      fixture.gateway.database.query(
        "insert into integration_acts (tenant_id, integration_id, mapping_id, order_id, status, state, delivery_id, claimed_at) values ($1, $2, $3, $4, 'processing', 'claimed', gen_random_uuid(), $5)",
        [
          tenant.id,
          shop.databaseId,
          shop.mappings[0]?.databaseId,
          order,
          new Date(fixture.gateway.gateway.resources.clock.now() - ageMs).toISOString(),
        ],
      );
    await claim('1', HOUR);
    await claim('2', DAY);
    for (const id of [1, 2]) await shop.post(wooOrder({ id }));
    const [first, second] = await shop.settled();
    expect(first).toMatchObject({ outcome: 'ACTED' });
    expect(second).toMatchObject({ outcome: 'REFUSED', results: [{ reason: { code: 'OUTCOME_UNKNOWN' } }] });
    expect(await tenant.sent()).toHaveLength(1);
    const forced = { id: second?.databaseId, force: true };
    await tenant.run('replayIntegrationDelivery', forced, 'integrationDelivery { outcome }');
    expect((await shop.settled()).map(({ outcome }) => outcome)).toEqual(['ACTED', 'ACTED']);
    expect(await tenant.sent()).toHaveLength(2);
  });

  test('on the same payload repeatedly does not retry it forever', async () => {
    const tenant = await fixture.tenant();
    const shop = await tenant.shop();
    await shop.post(wooOrder());
    await shop.settled();
    await fixture.gateway.database.query(
      "update integration_deliveries set outcome = 'waiting', due_at = $2::timestamptz, results = '[]', attempts = 8 where tenant_id = $1",
      [tenant.id, new Date(Date.now() - 1_000).toISOString()],
    );
    fixture.gateway.gateway.resources.lanes.wake('integrations', `${tenant.id}:${shop.databaseId}`);
    expect(await shop.settled()).toMatchObject([{ outcome: 'FAILED', attempts: 9 }]);
  });
});
