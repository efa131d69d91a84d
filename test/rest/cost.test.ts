import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openApi } from './contract.ts';

/** The cost that the reference and openapi.json state is what a call takes from the quota of its token. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ role: 'gateway' });
});
afterAll(() => gateway.stop());

const { paths } = openApi('v2');
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const { 'x-rate-limit-cost': cost } = operation as unknown as { readonly 'x-rate-limit-cost': number };
    return [`${method.toUpperCase()} ${path}`, cost] as const;
  }),
);

test.each(operations)('%s costs %i', async (operation, cost) => {
  const [method = '', path = ''] = operation.split(' ');
  const token = await gateway.addToken(gateway.tenant, { callsPerMinute: 1_000 });
  const headers = { authorization: `Bearer ${token}` };
  const { headers: answered } = await gateway.rest(
    method,
    path.replaceAll(/\{\w+\}/g, '4711'),
    method === 'GET' ? undefined : {},
    headers,
  );
  expect(Number(answered.get('x-ratelimit-remaining'))).toBe(1_000 - cost);
});
