import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gateway } from '../../../../src/app/serve.ts';
import { eventually, type TestGateway } from '../../../support/gateway.ts';
import { startWorker } from '../../../support/second-gateway.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { attempted, createEndpoint, makeGroups, startHooks, wake } from '../setup.ts';

let gateway: TestGateway;
let receiver: Receiver;
let workers: Gateway[];
beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks({ role: 'gateway' }), startReceiver()]);
  workers = await Promise.all([startWorker(gateway), startWorker(gateway)]);
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await gateway.stop();
  await receiver.stop();
});

const names = (path: string): string[] => receiver.at(path).map(({ body }) => body.data.group.name);

test('an attempt that cannot be recorded at first is recorded later and not repeated', async () => {
  const { id } = await createEndpoint(gateway, { url: `${receiver.url}/written`, events: ['group.*'] });
  await gateway.database.query(
    `create sequence refusals;
     create function refuse() returns trigger language plpgsql as $$
     begin
       -- A rollback does not take a number back.
       if nextval('refusals') <= 3 then raise exception 'the disk is full'; end if;
       return null;
     end $$;
     create trigger refuse before insert on webhook_attempts for each statement execute function refuse()`,
  );
  await makeGroups(gateway, ['written 1', 'written 2', 'written 3']);
  const rows = await attempted(gateway, id, 3);
  expect(await gateway.database.query('select from refusals where last_value > 3')).toHaveLength(1);
  await gateway.database.query('drop trigger refuse on webhook_attempts');
  expect(rows.map(row => [row.status, row.attempts.length])).toEqual(Array.from({ length: 3 }, () => ['DELIVERED', 1]));
  expect(names('/written')).toEqual(['written 1', 'written 2', 'written 3']);
});

test('if one of two workers is stopped, every event still reaches every endpoint once and in order', async () => {
  const paths = Array.from({ length: 8 }, (_, index) => `/worker/${index}`);
  const endpoints = await Promise.all(
    paths.map(path => createEndpoint(gateway, { url: receiver.url + path, events: ['group.created'] })),
  );
  receiver.answer((_got, response) => void setTimeout(() => response.end(), 2));
  const all = Array.from({ length: 120 }, (_, index) => `shared ${String(index).padStart(3, '0')}`);
  for (let index = 0; index < all.length; index += 40) await makeGroups(gateway, all.slice(index, index + 40));
  await eventually(() => expect(receiver.at('/worker/0').length).toBeGreaterThan(20));
  await workers[0]?.stop();
  await eventually(() => {
    // As the sweep does, every five seconds.
    for (const { id } of endpoints) wake(gateway, id);
    for (const path of paths) expect(receiver.at(path).length).toBeGreaterThanOrEqual(all.length);
  });
  for (const path of paths) expect(names(path)).toEqual(all);
  for (const { id } of endpoints) {
    const rows = await attempted(gateway, id, 100);
    expect(rows.every(row => row.status === 'DELIVERED' && row.attempts.length === 1)).toBe(true);
  }
});
