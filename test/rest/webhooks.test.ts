import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../features/webhooks/receiver.ts';
import { attempted, makeGroups, startHooks } from '../features/webhooks/setup.ts';
import type { TestGateway } from '../support/gateway.ts';
import { type Rest, restOf, TIMESTAMP, UUID } from './client.ts';

let gateway: TestGateway;
let receiver: Receiver;
let rest: Rest;
let paths = 0;
/** An address that no other test uses. */
const fresh = (): string => {
  paths += 1;
  return `${receiver.url}/rest/${paths}`;
};

beforeAll(async () => {
  [gateway, receiver] = await Promise.all([startHooks(), startReceiver()]);
  rest = restOf(gateway, gateway.tenant);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});
beforeEach(() => receiver.answer(200));

/** Among the events of other tests that are delivered late. */
const receivedAs = (deliveryId: string) => receiver.got.findLast(({ headers }) => headers['webhook-id'] === deliveryId);
const create = (body: object, headers?: Record<string, string>) => rest('POST', '/webhooks', body, headers);

describe('POST /webhooks', () => {
  it('creates an endpoint with 201 and returns its secret, only once', async () => {
    const url = fresh();
    const { status, body } = await create({
      url,
      events: ['message.*', 'contact.created'],
      format: 'n8n',
      headers: { Authorization: 'Bearer very-secret' },
      description: 'CRM',
    });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.any(Number),
      url,
      events: ['contact.created', 'message.*'],
      format: 'n8n',
      description: 'CRM',
      headers: ['Authorization'],
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      failing_since: null,
      previous_secret_until: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...row } = body.data;
    const shown = await rest('GET', `/webhooks/${row.id}`);
    expect(shown.body.data).toEqual(row);
    expect(shown.text).not.toContain(secret);
    const [stored] = await gateway.database.query<{ row: string }>(
      'select w::text as row from webhook_endpoints w where id = $1',
      [row.id],
    );
    expect(stored?.row).not.toContain('very-secret');
    expect(stored?.row).not.toContain(secret);
    expect(JSON.stringify(gateway.logs)).not.toContain('very-secret');
  });

  it('returns an existing endpoint with this URL and these events in any order with 200; another URL or other events create another endpoint', async () => {
    const url = fresh();
    const first = await create({ url, events: ['group.created', 'group.deleted'] });
    const again = await create({ url, events: 'group.deleted, group.created' });
    expect(again.status).toBe(200);
    expect(again.body.data).toEqual({ ...first.body.data, secret: null });
    const others = await Promise.all([
      create({ url: fresh(), events: ['group.created', 'group.deleted'] }),
      create({ url, events: ['group.created'] }),
    ]);
    expect(others.map(({ status }) => status)).toEqual([201, 201]);
  });

  it('creates one endpoint from concurrent requests', async () => {
    const url = fresh();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ url, events: ['*'] })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect(answers.filter(({ body }) => body.data.secret !== null)).toHaveLength(1);
  });

  it('with an Idempotency-Key gives the first answer again, without the secret', async () => {
    const body = { url: fresh(), events: ['*'] };
    const key = { 'idempotency-key': 'webhook-1' };
    const first = await create(body, key);
    const again = await create(body, key);
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body.data).toEqual({ ...first.body.data, secret: null });
  });

  it.each([
    [{ events: ['*'] }, 'url'],
    [{ url: 'hooks.example.com', events: ['*'] }, 'url'],
    [{ url: 'ftp://example.com/', events: ['*'] }, 'url'],
    [{ url: 'https://user:pass@example.com/', events: ['*'] }, 'url'],
    [{ url: 'https://example.com/#part', events: ['*'] }, 'url'],
    [{ url: 'https://10.1.2.3/', events: ['*'] }, 'url'],
    [{ url: 'https://[::ffff:192.168.0.1]/', events: ['*'] }, 'url'],
    [{ url: 'https://0x0a000001/', events: ['*'] }, 'url'],
    [{ url: 'https://169.254.169.254/latest', events: ['*'] }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2_000)}`, events: ['*'] }, 'url'],
    [{ url: 'https://example.com/' }, 'events'],
    [{ url: 'https://example.com/', events: [] }, 'events'],
    [{ url: 'https://example.com/', events: [7] }, 'events'],
    [{ url: 'https://example.com/', events: ['message.flown'] }, 'events'],
    [{ url: 'https://example.com/', events: ['webhook.delivery_attempted'] }, 'events'],
    [{ url: 'https://example.com/', events: ['*'], format: 'xml' }, 'format'],
    [{ url: 'https://example.com/', events: ['*'], headers: { Host: 'x' } }, 'headers'],
    [{ url: 'https://example.com/', events: ['*'], headers: { 'Webhook-Signature': 'x' } }, 'headers'],
    [{ url: 'https://example.com/', events: ['*'], headers: { 'Transfer-Encoding': 'chunked' } }, 'headers'],
    [{ url: 'https://example.com/', events: ['*'], headers: { 'X-A': 'a\r\nX-B: b' } }, 'headers'],
    [{ url: 'https://example.com/', events: ['*'], headers: { 'X A': 'a' } }, 'headers'],
    [{ url: 'https://example.com/', events: ['*'], headers: 'X-A: a' }, 'headers'],
    [{ url: 'https://example.com/', events: ['*'], description: 'x'.repeat(501) }, 'description'],
    [{ url: 'https://example.com/', events: ['*'], enabled: 'perhaps' }, 'enabled'],
  ])('refuses invalid input (%#) under its field, and creates nothing', async (body, field) => {
    const [before] = await gateway.database.query('select count(*) from webhook_endpoints');
    const answer = await create(body);
    expect([answer.status, Object.keys(answer.body.error.details)]).toEqual([422, [field]]);
    expect(await gateway.database.query('select count(*) from webhook_endpoints')).toEqual([before]);
  });

  it('refuses the 51st endpoint, also concurrently', async () => {
    const tenant = await gateway.addTenant({ channel: false });
    const theirs = restOf(gateway, tenant);
    const made = await Promise.all(
      Array.from({ length: 55 }, (_, index) =>
        theirs('POST', '/webhooks', { url: `https://example.com/${index}`, events: ['*'] }),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(50);
    const refused = made.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, Object.keys(body.error.details)])).toEqual(
      Array.from({ length: 5 }, () => [422, ['url']]),
    );
  });

  it('is not part of every plan', async () => {
    await gateway.database.query(
      "insert into plans (name, calls_per_minute, features) values ('bare', 6000, '{}') on conflict do nothing",
    );
    const tenant = await gateway.addTenant({ plan: 'bare', channel: false });
    const answer = await restOf(gateway, tenant)('POST', '/webhooks', { url: 'https://example.com/', events: ['*'] });
    expect([answer.status, answer.body.error.code]).toEqual([403, 'FEATURE_NOT_AVAILABLE']);
  });
});

describe('/webhooks/{id}', () => {
  it('keeps the values of headers that a change names alone, as an answer shows them', async () => {
    const headers = { Authorization: 'Bearer kept', 'X-Shop': 'one' };
    const { id, secret: _secret, ...row } = (await create({ url: fresh(), events: ['group.*'], headers })).body.data;
    const change = (body: object) => rest('PATCH', `/webhooks/${id}`, body);
    const sent = async () => {
      const { delivery_id } = (await rest('POST', `/webhooks/${id}/test`)).body.data;
      const { authorization, 'x-shop': shop } = receivedAs(delivery_id)?.headers ?? {};
      return { authorization, shop };
    };
    expect(await change(row)).toMatchObject({ status: 200, body: { data: row } });
    expect(await sent()).toEqual({ authorization: 'Bearer kept', shop: 'one' });
    const mixed = [{ name: 'X-Shop', value: 'two' }, 'authorization'];
    expect((await change({ headers: mixed })).body.data.headers).toEqual(['X-Shop', 'authorization']);
    expect(await sent()).toEqual({ authorization: 'Bearer kept', shop: 'two' });
    expect((await change({ headers: ['X-Shop'] })).body.data.headers).toEqual(['X-Shop']);
    expect(await sent()).toEqual({ authorization: undefined, shop: 'two' });
    const refused = [await change({ headers: ['X-Shop', 'X-New'] }), await create({ ...row, url: fresh() })];
    expect(refused.map(({ status, body }) => [status, body.error.details])).toEqual([
      [422, { headers: ['X-New has no value.'] }],
      [422, { headers: ['Authorization has no value.', 'X-Shop has no value.'] }],
    ]);
  });

  it('is listed, updated and deleted', async () => {
    const { id } = (await create({ url: fresh(), events: ['group.*'] })).body.data;
    const url = fresh();
    const changed = await rest('PATCH', `/webhooks/${id}`, { url, enabled: false, format: 'legacy', headers: {} });
    expect(changed.body.data).toMatchObject({ url, enabled: false, disabled_reason: 'by_hand', format: 'legacy' });
    expect((await rest('PATCH', `/webhooks/${id}`, { enabled: true })).body.data).toMatchObject({
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
    });
    const { body } = await rest('GET', '/webhooks?sort=-id&per_page=1&fields=id,url&filter[format]=legacy');
    expect(body.data).toEqual([{ id, url }]);
    expect((await rest('DELETE', `/webhooks/${id}`)).body.data).toEqual({ id });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const)
      expect((await rest(method, `/webhooks/${id}${path}`, method === 'PATCH' ? {} : undefined)).status).toBe(404);
  });

  it('cannot become a duplicate of another endpoint', async () => {
    const url = fresh();
    await create({ url, events: ['group.*'] });
    const { id } = (await create({ url, events: ['source.*'] })).body.data;
    const answer = await rest('PATCH', `/webhooks/${id}`, { events: ['group.*'] });
    expect([answer.status, Object.keys(answer.body.error.details)]).toEqual([422, ['url']]);
  });
});

describe('a delivery', () => {
  it('is listed with its attempts and can be delivered again, under the same id', async () => {
    const path = fresh();
    const { id } = (await create({ url: path, events: ['group.*'] })).body.data;
    receiver.answer((_got, response) => void response.writeHead(410).end('no longer here'));
    await makeGroups(gateway, ['replayed']);
    await attempted(gateway, id, 1);
    const list = await rest('GET', `/webhooks/${id}/deliveries?filter[status]=failed`);
    const [delivery] = list.body.data;
    expect(list.body.data).toEqual([
      {
        id: expect.stringMatching(UUID),
        event_id: expect.stringMatching(UUID),
        event_type: 'group.created',
        is_test: false,
        status: 'failed',
        attempt_count: 1,
        next_attempt_at: null,
        error: null,
        created_at: expect.stringMatching(TIMESTAMP),
        settled_at: expect.stringMatching(TIMESTAMP),
        attempts: [
          {
            number: 1,
            at: expect.stringMatching(TIMESTAMP),
            status: 410,
            duration_ms: expect.any(Number),
            response: 'no longer here',
            error: 'gone (HTTP 410)',
          },
        ],
      },
    ]);
    const replay = `/webhooks/${id}/deliveries/${delivery.id}/replay`;
    const refused = await rest('POST', replay);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'DISABLED']);
    receiver.answer(200);
    await rest('PATCH', `/webhooks/${id}`, { enabled: true });
    const again = await rest('POST', replay);
    expect([again.status, again.body.data.status]).toEqual([200, 'pending']);
    const [row] = await attempted(gateway, id, 2);
    expect([row.databaseId, row.status, row.attemptCount]).toEqual([delivery.id, 'DELIVERED', 2]);
    const other = (await create({ url: fresh(), events: ['group.*'] })).body.data;
    expect((await rest('POST', `/webhooks/${other.id}/deliveries/${delivery.id}/replay`)).status).toBe(404);
    expect((await rest('POST', `/webhooks/${id}/deliveries/${other.id}/replay`)).status).toBe(404);
  });

  it('can be a test, whose outcome is in the response and does not affect the health of the endpoint', async () => {
    const { id } = (await create({ url: fresh(), events: ['group.*'], headers: { 'X-Key': 'k' } })).body.data;
    const { status, body } = await rest('POST', `/webhooks/${id}/test`);
    expect([status, body.data]).toEqual([
      200,
      {
        delivered: true,
        delivery_id: expect.stringMatching(UUID),
        attempt: expect.objectContaining({ number: 1, status: 200, error: null, response: '' }),
      },
    ]);
    expect(receivedAs(body.data.delivery_id)?.headers).toMatchObject({
      'x-webhook-event': 'webhook.test',
      'x-key': 'k',
    });
    receiver.answer(410);
    expect((await rest('POST', `/webhooks/${id}/test`)).body.data).toMatchObject({ delivered: false });
    expect((await rest('GET', `/webhooks/${id}`)).body.data).toMatchObject({ enabled: true, failing_since: null });
    const list = await rest('GET', `/webhooks/${id}/deliveries`);
    expect(list.body.data.map((row: { is_test: boolean; status: string }) => [row.is_test, row.status])).toEqual([
      [true, 'failed'],
      [true, 'delivered'],
    ]);
  });

  it('is sent and queued once for each idempotency key', async () => {
    const url = fresh();
    const { id } = (await create({ url, events: ['group.*'] })).body.data;
    const at = new URL(url).pathname;
    const keyed = { 'idempotency-key': `test ${url}` };
    const test = () => rest('POST', `/webhooks/${id}/test`, undefined, keyed);
    receiver.answer(200);
    const atOnce = await Promise.all(Array.from({ length: 5 }, test));
    for (const { status } of atOnce) expect([200, 409]).toContain(status);
    const [first] = atOnce.filter(({ status }) => status === 200);
    const again = await test();
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first?.text, 'true']);
    expect(receiver.at(at)).toHaveLength(1);

    const delivery = again.body.data.delivery_id;
    const replay = (path = `/webhooks/${id}/deliveries/${delivery}/replay`) =>
      rest('POST', path, undefined, { 'idempotency-key': `replay ${url}` });
    const queued = await replay();
    expect([queued.status, queued.body.data.status]).toEqual([200, 'pending']);
    const [row] = await attempted(gateway, id, 2);
    expect(row.status).toBe('DELIVERED');
    // Also when it could not be queued any more.
    await rest('PATCH', `/webhooks/${id}`, { enabled: false });
    const repeated = await replay();
    expect([repeated.text, repeated.headers.get('idempotency-replayed')]).toEqual([queued.text, 'true']);
    expect((await rest('GET', `/webhooks/${id}/deliveries`)).body.data[0]).toMatchObject({ status: 'delivered' });
    expect((await replay(`/webhooks/${id}/test`)).body.error.code).toBe('IDEMPOTENCY_MISMATCH');
  });
});
