import { expect, onTestFinished, test } from 'vitest';
import { wakeSnoozed } from '../../../src/features/conversations/housekeeping.ts';
import { HOUR } from '../../../src/platform/clock.ts';
import { startGateway } from '../../support/gateway.ts';

test.each([1, -1])('a process whose clock is %s h off wakes snoozed conversations at their time', async hours => {
  const gateway = await startGateway({ role: 'gateway', clock: { now: () => Date.now() + hours * HOUR } });
  onTestFinished(() => gateway.stop());
  const { database, tenant } = gateway;
  await database.query(
    `with c as (
       insert into contacts (tenant_id, type, phone) select $1, 'lead', '+1415555010' || n from generate_series(1, 2) n returning tenant_id, id, phone
     )
     insert into conversations (tenant_id, contact_id, channel_id, status, snoozed_until)
     select c.tenant_id, c.id, h.id, 'snoozed', now() + case right(c.phone, 1) when '1' then interval '30 minutes' else interval '-1 second' end
     from c join channels h using (tenant_id)`,
    [tenant.id],
  );
  await wakeSnoozed(gateway.gateway.resources);
  expect(
    await database.query(
      'select right(c.phone, 1) as person, v.status from conversations v join contacts c on c.id = v.contact_id order by 1',
    ),
  ).toEqual([
    { person: '1', status: 'snoozed' },
    { person: '2', status: 'open' },
  ]);
});
