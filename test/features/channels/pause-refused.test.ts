import { afterAll, beforeAll, expect, test } from 'vitest';
import { pauseRefused } from '../../../src/features/channels/pause.ts';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

test('a refusal of the former token does not pause a number that is connected again at that moment', async () => {
  const { resources } = gateway.gateway;
  const tenant = await gateway.addTenant();
  const { query } = gateway.database;
  const [channel] = await query<{ id: string; sealed: Buffer }>(
    'select id, access_token_sealed as sealed from channels where tenant_id = $1',
    [tenant.id],
  );
  if (!channel) throw new Error('The tenant has no channel.');
  const ref = { tenantId: tenant.id, channelId: Number(channel.id) };
  const status = async () => (await query('select status from channels where tenant_id = $1', [tenant.id]))[0];
  let pausing: Promise<boolean> | undefined;
  await resources.db.transaction(async trx => {
    await trx
      .updateTable('channels')
      .set({ access_token_sealed: resources.secrets.seal('another token') })
      .where('tenant_id', '=', tenant.id)
      .execute();
    pausing = pauseRefused(resources, ref, '190 Access token', resources.secrets.open(channel.sealed));
    await eventually(async () =>
      expect(
        await query("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
      ).toHaveLength(1),
    );
  });
  expect(await pausing).toBe(false);
  expect(await status()).toEqual({ status: 'active' });
  expect(await pauseRefused(resources, ref, '190 Access token', 'another token')).toBe(true);
  expect(await status()).toEqual({ status: 'paused' });
});
