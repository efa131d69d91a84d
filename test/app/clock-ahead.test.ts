import { expect, onTestFinished, test } from 'vitest';
import { updateTenant } from '../../src/features/tenancy/tenants/store.ts';
import { DAY } from '../../src/platform/clock.ts';
import { payloadOf } from '../support/answers.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

test('a process whose clock is far ahead removes nothing by age, and says so', async () => {
  const gateway = await startGateway({ clock: { now: () => Date.now() + 400 * DAY } });
  onTestFinished(() => gateway.stop());
  const { tenant, database } = gateway;
  await gateway.gateway.resources.db.transaction(trx => updateTenant(trx, tenant.id, { keepMessagesDays: 365 }));
  const message = { to: { phone: newPhone() }, content: { text: { body: 'Hi' } } };
  payloadOf(await gateway.mutate('sendMessage', message, 'message { databaseId }'));
  // As a process with another clock accepted it.
  await eventually(async () => expect(await database.query('select from outbox')).toEqual([]));
  await database.query('update messages set id = uuid_v7(now(), 1)');
  await eventually(() =>
    expect(gateway.logs).toContainEqual(
      expect.objectContaining({
        chore: 'old messages',
        err: expect.objectContaining({ message: expect.stringContaining('400.0 days ahead') }),
      }),
    ),
  );
  expect(await database.query('select from messages')).toHaveLength(1);
});
