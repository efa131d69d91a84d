import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

it('If-Match changes and deletes a contact only as its ETag says that it was read', async () => {
  const { data } = (await (await gateway.rest('POST', '/contacts', { phone: newPhone() })).json()) as {
    data: { id: number };
  };
  const path = `/contacts/${data.id}`;
  const tag = async (): Promise<string> => (await gateway.rest('GET', path)).headers.get('etag') ?? '';
  const first = await tag();
  const patch = (city: string, etag: string) => gateway.rest('PATCH', path, { city }, { 'if-match': etag });
  expect((await patch('Rome', first)).status).toBe(200);
  const late = await patch('Oslo', first);
  expect([late.status, ((await late.json()) as { error: { code: string } }).error.code]).toEqual([
    412,
    'PRECONDITION_FAILED',
  ]);
  const second = await tag();
  expect((await patch('Bern', `"other", ${second}`)).status).toBe(200);
  expect((await gateway.rest('DELETE', path, undefined, { 'if-match': second })).status).toBe(412);
  expect((await gateway.rest('DELETE', path, undefined, { 'if-match': '*' })).status).toBe(200);
  expect((await gateway.rest('DELETE', path, undefined, { 'if-match': '*' })).status).toBe(404);
});
