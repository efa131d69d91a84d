import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, ParleyError } from '../../src/client/client.ts';
import { followAnew } from '../../src/dashboard/api/follow-anew.ts';
import { dataOf } from '../support/answers.ts';
import { eventually, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const COUNTS = { query: 'subscription { conversationCounts { open } }', operationName: undefined, variables: {} };

test('live counts go on after an error of the gateway that passes', async () => {
  const { query } = gateway.database;
  const tenant = await gateway.addTenant();
  const client = createClient({ url: gateway.url, token: tenant.token });
  const stop = new AbortController();
  const seen: unknown[] = [];
  let failure: unknown;
  const running = (async () => {
    for await (const data of followAnew(client, COUNTS, stop.signal)) seen.push(data);
  })().catch((error: unknown) => {
    failure = error;
  });
  const counts = { conversationCounts: { open: 0 } };
  try {
    await eventually(() => expect(seen).toEqual([counts]));
    await query('alter table conversations rename column is_unread to away');
    const input = { phone: '+14155550101' };
    dataOf(await gateway.mutate('createContact', input, '__typename', tenant.token));
    await eventually(() =>
      expect(gateway.logs.some(line => JSON.stringify(line).includes('column v.is_unread'))).toBe(true),
    );
    await query('alter table conversations rename column away to is_unread');
    await eventually(() => expect([failure, seen.at(1)]).toEqual([undefined, counts]), 20_000);
  } finally {
    stop.abort();
    await running;
    await client.close();
  }
});

test('a refusal ends a subscription', async () => {
  const tenant = await gateway.addTenant();
  const client = createClient({ url: gateway.url, token: tenant.token });
  const body = { ...COUNTS, query: 'subscription { nothing }' };
  const first = followAnew(client, body, new AbortController().signal).next();
  await expect(first).rejects.toThrow(ParleyError);
  await client.close();
});
