import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

it('If-Match: * holds for a contact that others change at the same time', async () => {
  const { data } = (await (await gateway.rest('POST', '/contacts', { phone: newPhone() })).json()) as {
    data: { id: number };
  };
  const patch = (city: string) => gateway.rest('PATCH', `/contacts/${data.id}`, { city }, { 'if-match': '*' });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => patch(`City ${index}`)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
});

it('a request that is repeated with its key gets its answer, though it has changed the tag itself', async () => {
  const HOOK = { url: 'https://shop.example/again', events: ['contact.*'] };
  for (const [list, created, changed] of [
    ['/contacts', { phone: newPhone() }, { city: 'Rome' }],
    ['/groups', { name: 'Again' }, { name: 'Once' }],
    ['/webhooks', HOOK, { description: 'Shop' }],
  ] as const) {
    const { data } = (await (await gateway.rest('POST', list, created)).json()) as { data: { id: number } };
    const path = `${list}/${data.id}`;
    const tag = (await gateway.rest('GET', path)).headers.get('etag') ?? '';
    const patch = (body: object, key: string) =>
      gateway.rest('PATCH', path, body, { 'if-match': tag, 'idempotency-key': key });
    const first = await patch(changed, `again ${path}`);
    const again = await patch(changed, `again ${path}`);
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.text()).toBe(await first.text());
    expect((await patch(created, `again ${path}`)).status).toBe(422);
    expect((await patch(changed, `other ${path}`)).status).toBe(412);
  }
});

it('a key that another request has used does not let a deletion through whose precondition fails', async () => {
  for (const [list, created, changed] of [
    ['/contacts', { phone: newPhone() }, { city: 'Rome' }],
    ['/groups', { name: 'Kept' }, { name: 'Kept on' }],
  ] as const) {
    const { data } = (await (await gateway.rest('POST', list, created)).json()) as { data: { id: number } };
    const path = `${list}/${data.id}`;
    const headers = {
      'if-match': (await gateway.rest('GET', path)).headers.get('etag') ?? '',
      'idempotency-key': `session ${path}`,
    };
    expect((await gateway.rest('PATCH', path, changed, headers)).status).toBe(200);
    expect((await gateway.rest('DELETE', path, undefined, headers)).status).toBe(412);
    expect((await gateway.rest('GET', path)).status).toBe(200);
  }
});

it('a change of a contact that still runs under the same key is a conflict, and no failed precondition', async () => {
  const { data } = (await (await gateway.rest('POST', '/contacts', { phone: newPhone() })).json()) as {
    data: { id: number };
  };
  const seen = new Set<number>();
  for (let round = 0; round < 10; round += 1) {
    const patch = () =>
      gateway.rest('PATCH', `/contacts/${data.id}`, { city: `City ${round}` }, { 'idempotency-key': `round ${round}` });
    for (const { status } of await Promise.all(Array.from({ length: 6 }, patch))) seen.add(status);
  }
  expect([...seen].filter(status => status !== 200 && status !== 409)).toEqual([]);
  expect(seen).toContain(200);
});

it('a token that may not read the object is refused for that, whatever its If-Match', async () => {
  const { data } = (await (await gateway.rest('POST', '/groups', { name: 'Unread' })).json()) as {
    data: { id: number };
  };
  const token = await gateway.addToken(gateway.tenant, { scopes: ['groups:write'] });
  const authorization = `Bearer ${token}`;
  const changed = await gateway.rest('PATCH', `/groups/${data.id}`, { name: 'Written' }, { authorization });
  for (const tag of ['*', changed.headers.get('etag') ?? '']) {
    const headers = { authorization, 'if-match': tag };
    const refused = await gateway.rest('PATCH', `/groups/${data.id}`, { name: 'Again' }, headers);
    expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([
      403,
      { code: 'INSUFFICIENT_SCOPE', details: { required: ['groups:read'], granted: ['groups:write'] } },
    ]);
  }
});

it('a token that may not change the object is refused for that, whatever its If-Match', async () => {
  const { data } = (await (await gateway.rest('POST', '/groups', { name: 'Unwritten' })).json()) as {
    data: { id: number };
  };
  const token = await gateway.addToken(gateway.tenant, { scopes: ['groups:read'] });
  const headers = { authorization: `Bearer ${token}`, 'if-match': '"other"' };
  for (const [method, body, scope] of [
    ['PATCH', { name: 'Written' }, 'groups:write'],
    ['DELETE', undefined, 'groups:delete'],
  ] as const)
    for (const id of [data.id, 999_999]) {
      const refused = await gateway.rest(method, `/groups/${id}`, body, headers);
      expect([refused.status, ((await refused.json()) as { error: object }).error]).toMatchObject([
        403,
        { code: 'INSUFFICIENT_SCOPE', details: { required: [scope], granted: ['groups:read'] } },
      ]);
    }
});

describe('every change of one object', () => {
  const BOT = { name: 'Bot', trigger: 'any', reply: { text: { text: 'Hello' } } };
  const HOOK = { url: 'https://shop.example/hooks', events: ['contact.*'] };
  it.each<[path: string, created: object, changed: object]>([
    ['/contacts', { phone: newPhone(), groups: [] }, { city: 'Rome' }],
    ['/contacts', { phone: newPhone() }, { groups: [], city: 'Oslo' }],
    ['/groups', { name: 'VIP' }, { name: 'Very important' }],
    ['/sources', { name: 'Fair' }, { name: 'Trade fair' }],
    ['/statuses', { name: 'Won', color: '#112233' }, { color: '#445566' }],
    ['/bots', BOT, { priority: 2 }],
    ['/webhooks', HOOK, { description: 'Shop' }],
  ])('below %s answers the tag that GET has then, and honours If-Match', async (list, created, changed) => {
    const { data } = (await (await gateway.rest('POST', list, created)).json()) as { data: { id: number } };
    const path = `${list}/${data.id}`;
    const tag = async (address = path): Promise<string | null> =>
      (await gateway.rest('GET', address)).headers.get('etag');
    const first = (await tag()) ?? '';
    const patched = await gateway.rest('PATCH', path, changed, { 'if-match': first });
    expect([patched.status, patched.headers.get('etag')]).toEqual([200, await tag()]);
    expect(patched.headers.get('etag')).not.toBe(first);
    expect((await gateway.rest('PATCH', path, created, { 'if-match': first })).status).toBe(412);
    expect((await gateway.rest('DELETE', path, undefined, { 'if-match': first })).status).toBe(412);
    const sparse = await gateway.rest('PATCH', `${path}?fields=id,updated_at`, changed);
    expect(sparse.headers.get('etag')).toBe(await tag(`${path}?fields=id,updated_at`));
    const now = patched.headers.get('etag') ?? '';
    expect((await gateway.rest('DELETE', path, undefined, { 'if-match': now })).status).toBe(200);
  });

  it('of a contact counts its groups only where they are included', async () => {
    const contact = await gateway.rest('POST', '/contacts', { phone: newPhone() });
    const { data } = (await contact.json()) as { data: { id: number } };
    const path = `/contacts/${data.id}?include=groups`;
    const patched = await gateway.rest('PATCH', path, { city: 'Rome' });
    expect(patched.headers.get('etag')).toBe((await gateway.rest('GET', path)).headers.get('etag'));
  });
});
