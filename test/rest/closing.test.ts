import { expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { UUID } from './client.ts';
import { askWhileClosing } from './late-requests.ts';

it('requests during shutdown are refused in the format of their address', async () => {
  const gateway = await startGateway({ env: { PARLEY_V1_SUNSET: '2027-12-31' } });
  const headers = { authorization: `Bearer ${gateway.tenant.token}` };
  const v1 = `/api/v1/${gateway.tenant.slug}`;
  const json = { ...headers, 'content-type': 'application/json', 'content-length': '2' };
  const answers = await askWhileClosing(gateway, [
    { method: 'GET', path: `${v1}/groups/7`, headers },
    { method: 'GET', path: `${v1}/nothing` },
    { method: 'POST', path: `${v1}/messages/media`, headers: json },
    { method: 'GET', path: '/api/v2/groups', headers },
    { method: 'GET', path: '/api/v2/groups', headers: { accept: 'application/problem+json' } },
    { method: 'POST', path: '/graphql', headers: json },
    { method: 'GET', path: '/nothing' },
  ]);
  for (const { status, headers } of answers)
    expect([status, headers.get('retry-after'), headers.get('connection'), headers.get('x-request-id')]).toEqual([
      503,
      '1',
      'close',
      expect.stringMatching(UUID),
    ]);
  const why = 'The service is stopping. Try again.';
  const legacy = { status: 'error', message: 'Service unavailable', errors: why };
  const error = { code: 'SERVICE_UNAVAILABLE', message: why, details: { retry_after: 1 } };
  const [group, nothing, media, groups, problem, graphql, nowhere] = answers.map(({ text }) => JSON.parse(text));
  expect([group, nothing, media]).toEqual([legacy, legacy, legacy]);
  expect([groups, nowhere]).toEqual([
    { success: false, error, meta: expect.anything() },
    { success: false, error, meta: expect.anything() },
  ]);
  expect(problem).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', detail: why });
  expect(graphql.errors).toMatchObject([{ message: why, extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
  const announced = answers.map(({ headers }) => [
    headers.get('link'),
    headers.has('deprecation'),
    headers.has('sunset'),
  ]);
  expect(announced).toEqual([
    ['</api/v2/groups/7>; rel="successor-version"', true, true],
    ['</api/v2>; rel="successor-version"', true, true],
    ['</api/v2/messages/media>; rel="successor-version"', true, true],
    ...Array.from({ length: 4 }, () => [null, false, false]),
  ]);
  await gateway.stop();
});
