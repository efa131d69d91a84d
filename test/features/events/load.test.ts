import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, startGateway, type TestGateway } from '../../support/gateway.ts';
import { follow, seen } from './subscriber.ts';
import { logged, write } from './writing.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

test('a client that reconnects twenty times while others write sees each of 10,000 events once and in order', async () => {
  const start = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'] });
  await write(gateway, 'first ', 1);
  await seen(start, 1);
  await start.stop();
  let place = start.events[0]?.cursor;
  const ids = [start.events[0]?.id];
  const writing = Promise.all(['a', 'b', 'c', 'd'].map(name => write(gateway, name, 250, 10)));
  let done = false;
  void writing.then(() => {
    done = true;
  });
  let reconnects = 0;
  while (!done || reconnects < 20) {
    reconnects += 1;
    // Both ways of saying where: the cursor, and the id.
    const after = reconnects % 2 === 0 ? place : ids.at(-1);
    const follower = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'], after });
    await new Promise(resolve => setTimeout(resolve, 20 + Math.random() * 80));
    // Cut, not closed: as a network fails.
    follower.socket().terminate();
    await follower.closed;
    expect(follower.errors).toEqual([]);
    ids.push(...follower.events.map(event => event.id));
    place = follower.events.at(-1)?.cursor ?? place;
  }
  await writing;
  const rest = await follow(gateway.url, gateway.tenant.token, { types: ['group.*'], after: place });
  await eventually(async () => expect(ids.length + rest.events.length).toBe((await logged(gateway)).length));
  ids.push(...rest.events.map(event => event.id));
  await rest.stop();
  expect(reconnects).toBeGreaterThanOrEqual(20);
  expect(ids).toEqual(await logged(gateway));
  expect(ids.length).toBe(10_001);
});
