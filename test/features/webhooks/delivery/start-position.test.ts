import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Gateway } from '../../../../src/app/serve.ts';
import { restoreLog } from '../../../../src/events/restore.ts';
import { renumberListening } from '../../../../src/features/webhooks/endpoints/targets.sql.ts';
import { pastEvents } from '../../../events/past-events.ts';
import { dataOf } from '../../../support/answers.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { startSecondGateway, startWorker } from '../../../support/second-gateway.ts';
import { follow, seen } from '../../events/subscriber.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { createEndpoint, makeGroups, startHooks } from '../setup.ts';

/** What an endpoint is told when the log is read late: workers were down, or the data comes from another cluster. */

let gateway: TestGateway;
let receiver: Receiver;
let worker: Gateway | undefined;
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks({ role: 'gateway' }), startReceiver()]);
  // Readers of the log begin where the first worker is started.
  worker = await startWorker(gateway);
  await stopWorker();
});
afterEach(stopWorker);
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

async function stopWorker(): Promise<void> {
  await worker?.stop();
  worker = undefined;
}

const namesAt = (path: string): string[] => receiver.at(path).map(({ body }) => body.data.group.name);

const update = async (id: number, input: object): Promise<void> => {
  dataOf(await gateway.mutate('updateWebhookEndpoint', { id: String(id), ...input }, 'webhookEndpoint { id }'));
};

test('an endpoint does not get events from before its creation', async () => {
  await makeGroups(gateway, ['before']);
  await createEndpoint(gateway, { url: `${receiver.url}/new`, events: ['group.*'] });
  await makeGroups(gateway, ['after']);
  worker = await startWorker(gateway);
  await eventually(() => expect(namesAt('/new')).toEqual(['after']));
});

test('an endpoint does not get events from while it was disabled', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/disabled`, events: ['group.*'] });
  await update(id, { isEnabled: false });
  await makeGroups(gateway, ['meanwhile']);
  await pastEvents(gateway);
  await update(id, { isEnabled: true });
  await makeGroups(gateway, ['again']);
  // What is enabled already stays so: nothing is passed over.
  await pastEvents(gateway);
  await update(id, { isEnabled: true });
  worker = await startWorker(gateway);
  await eventually(() => expect(namesAt('/disabled')).toEqual(['again']));
});

test('after a restore in another cluster, unread events are consumed once and cursors are expired', async () => {
  const { token } = gateway.tenant;
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/restored`, events: ['group.*'] });
  const subscriber = await follow(gateway.url, token, { types: ['group.*'] });
  worker = await startWorker(gateway);
  await makeGroups(gateway, ['taken']);
  await eventually(() => expect(namesAt('/restored')).toEqual(['taken']));
  await stopWorker();
  await makeGroups(gateway, ['not taken']);
  await seen(subscriber, 2);
  await subscriber.stop();

  // A cluster that has not had so many transactions finds places in its future.
  for (const [table, column] of [
    ['events', 'xid'],
    ['log_readers', 'xid'],
    ['event_retention', 'xid'],
    ['webhook_endpoints', 'listens_since'],
  ])
    await gateway.database.query(
      `update ${table} set ${column} = (${column}::text::numeric + 1e12)::bigint::text::xid8`,
    );
  await expect(startWorker(gateway)).rejects.toThrow('parley restore-log');
  const { db } = gateway.gateway.resources;
  await restoreLog(db, { renumberOthers: renumberListening });
  worker = await startWorker(gateway);
  await eventually(() => expect(namesAt('/restored')).toEqual(['taken', 'not taken']));
  await makeGroups(gateway, ['new']);
  await eventually(() => expect(namesAt('/restored')).toEqual(['taken', 'not taken', 'new']));
  await pastEvents(gateway);
  await update(id, { isEnabled: false });

  // A process reads the generation of cursors at its start, and none of before runs on after a restore.
  const restarted = await startSecondGateway(gateway);
  onTestFinished(() => restarted.stop());
  for (const { cursor, id: eventId } of subscriber.events)
    for (const after of [cursor, eventId]) {
      const late = await follow(restarted.url, token, { types: ['group.*'], after });
      await eventually(() => expect(late.errors).toMatchObject([{ extensions: { code: 'CURSOR_EXPIRED' } }]));
      expect(late.events).toEqual([]);
      await late.stop();
    }
});
