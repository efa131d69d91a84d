import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { applyTemplateUpdates } from '../../../../src/features/templates/sync/apply-updates.ts';
import { startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { describedEvents, type Pages, readPages, template } from './read-pages.ts';

/** Webhooks that are applied while a sync reads. */

let gateway: TestGateway;
let tenant: TestTenant;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
beforeEach(async () => {
  tenant = await gateway.addTenant();
});
afterAll(() => gateway.stop());

const told = (of: TestTenant) => describedEvents(gateway, of);
const read = (of: TestTenant, ...pages: Pages) => readPages(gateway, of, pages);

test('a sync does not overwrite what a webhook reported while it read, and is repeated', async () => {
  const report = (name: string, word: string) => async () => {
    const update = { kind: 'template', wabaId: tenant.wabaId, name, language: 'en_US' } as const;
    const accounts = await gateway.gateway.resources.db.transaction(trx =>
      applyTemplateUpdates(trx, tenant.id, [{ ...update, status: { word, reason: null } }]),
    );
    expect(accounts).toEqual([tenant.wabaId]);
  };
  const pending = { status: 'PENDING' };
  await read(tenant, [template('a', pending), template('b', pending), template('c')]);
  // The network answered before it sent the webhook.
  const answered = [template('a', pending), template('b', { ...pending, category: 'MARKETING' })];
  const counts = await read(tenant, report('a', 'APPROVED'), answered, report('c', 'PAUSED'), [template('c')]);
  expect(counts).toEqual({ created: 0, updated: 1, removed: 0, unchanged: 2, total: 3 });
  const rows = await gateway.database.query(
    'select name, status, category from templates where tenant_id = $1 order by name',
    [tenant.id],
  );
  expect(rows).toEqual([
    { name: 'a', status: 'APPROVED', category: 'UTILITY' },
    { name: 'b', status: 'PENDING', category: 'MARKETING' },
    { name: 'c', status: 'PAUSED', category: 'UTILITY' },
  ]);
  expect((await told(tenant)).slice(3)).toEqual([
    ['status_changed', 'a', 'APPROVED', pending],
    ['updated', 'b', 'PENDING', { category: 'UTILITY' }],
    ['status_changed', 'c', 'PAUSED', { status: 'APPROVED' }],
  ]);
  // What the webhook did not report is read by the next one.
  expect(await read(tenant, [template('a'), template('b'), template('c', { status: 'PAUSED' })])).toMatchObject({
    updated: 1,
    unchanged: 2,
  });
});

test('a sync is repeated if a webhook removed a template that it read', async () => {
  await read(tenant, [template('a')]);
  const update = { kind: 'template', wabaId: tenant.wabaId, name: 'a', language: 'en_US' } as const;
  const remove = () =>
    gateway.gateway.resources.db.transaction(trx =>
      applyTemplateUpdates(trx, tenant.id, [{ ...update, status: { word: 'DELETED', reason: null } }]),
    );
  await read(tenant, async () => {
    expect(await remove()).toEqual([tenant.wabaId]);
  }, [template('a')]);
  // Without a sync that may have read it, there is nothing to repeat.
  expect(await remove()).toEqual([]);
});
