import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAll, readTenant } from '../../src/events/log.sql.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test('events are ordered by transaction id as a number, not as text', async () => {
  const { database, tenant } = gateway;
  for (const [index, xid] of ['9', '10', '99', '100'].entries()) {
    await database.query(
      `insert into events (tenant_id, id, xid, seq, type, payload) values ($1, gen_random_uuid(), $2::xid8, $3, 'group.created', '{}')`,
      [tenant.id, xid, 4 - index],
    );
  }
  const { db, horizon } = gateway.gateway.resources;
  const { read } = db;
  const { position } = await horizon.advance();
  const order = (rows: readonly { readonly xid: string }[]) => rows.map(row => row.xid).slice(0, 4);
  expect(order(await readAll(read, { xid: 0n, seq: 0 }, position, 4, { tenants: [], types: [] }))).toEqual([
    '9',
    '10',
    '99',
    '100',
  ]);
  expect(
    order(await readTenant(read, tenant.id, { types: ['group.created'], after: undefined, before: position }, 4)),
  ).toEqual(['9', '10', '99', '100']);
});
