import { expect, onTestFinished, test } from 'vitest';
import { deleteTenantRows } from '../../src/database/tenant-rows.sql.ts';
import { startGateway } from '../support/gateway.ts';

test('rows of a tenant that are written while others are deleted are deleted, too', async () => {
  const gateway = await startGateway({ role: 'gateway' });
  onTestFinished(() => gateway.stop());
  const { database, tenant } = gateway;
  // A person who writes for the first time: their conversation keeps the channel from being deleted.
  await database.query(`
    create function person() returns void language sql as $$
      with c as (insert into contacts (tenant_id, type, phone) select tenant_id, 'lead', '+14155550123' from channels returning tenant_id, id)
      insert into conversations (tenant_id, contact_id, channel_id) select c.tenant_id, c.id, h.id from c join channels h using (tenant_id)
    $$;
    select person();
    create table meanwhile ();
    create function meanwhile() returns trigger language plpgsql as $$
    begin
      if exists (select from old_rows) and not exists (select from meanwhile) then
        insert into meanwhile default values;
        perform person();
      end if;
      return null;
    end $$;
    create trigger meanwhile after delete on conversations referencing old table as old_rows
      for each statement execute function meanwhile()`);
  await deleteTenantRows(gateway.gateway.resources.db, tenant.id, () => undefined);
  expect(await database.query('select from meanwhile')).toHaveLength(1);
  for (const table of ['contacts', 'conversations', 'channels'])
    expect(await database.query(`select from ${table} where tenant_id = $1`, [tenant.id])).toEqual([]);
});
