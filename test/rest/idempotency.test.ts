import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../support/gateway.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, restOf } from './client.ts';

let gateway: TestGateway;
let tenant: TestTenant;
let rest: Rest;
let keys = 0;

beforeAll(async () => {
  gateway = await startGateway();
  tenant = await gateway.addTenant({ plan: 'standard' });
  rest = restOf(gateway, tenant);
});
afterAll(() => gateway.stop());

const freshKey = (): string => {
  keys += 1;
  return `key-${keys}`;
};
const keyed = (key: string) => ({ 'idempotency-key': key });
const contactsWith = async (phone: string): Promise<number> =>
  (await gateway.database.query('select id from contacts where tenant_id = $1 and phone = $2', [tenant.id, phone]))
    .length;

describe('a repeated request with its key', () => {
  it('is executed once and gets the first answer, word for word', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    const first = await rest('POST', '/contacts', { phone }, keyed(key));
    expect(first.status).toBe(201);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    // What the row has become meanwhile makes no difference.
    await rest('PATCH', `/contacts/${first.body.data.id}`, { firstname: 'Changed' });
    const second = await rest('POST', '/contacts', { phone }, keyed(key));
    expect(second.status).toBe(201);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    await rest('DELETE', `/contacts/${first.body.data.id}`);
    // It told of a person who is erased.
    expect((await rest('POST', '/contacts', { phone }, keyed(key))).status).toBe(404);
  });

  it('is the same with the key in quotes, and with its fields in another order', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    const first = await rest('POST', '/contacts', { phone, firstname: 'Ada' }, keyed(key));
    expect((await rest('POST', '/contacts', { firstname: 'Ada', phone }, keyed(`"${key}"`))).text).toBe(first.text);
  });

  it.each([
    ['POST', '/groups', () => ({ name: `Group ${freshKey()}` })],
    ['POST', '/sources', () => ({ name: `Source ${freshKey()}` })],
    ['POST', '/statuses', () => ({ name: `Status ${freshKey()}` })],
    ['POST', '/contacts/batch', () => ({ contacts: [{ phone: newPhone() }, { phone: newPhone() }, { phone: 'x' }] })],
    ['POST', '/messages/text', () => ({ phone: newPhone(), message: 'Once' })],
    ['POST', '/templates/sync', () => ({})],
  ] as const)('%s %s is done once', async (method, path, make) => {
    const [key, body] = [freshKey(), make()];
    const first = await rest(method, path, body, keyed(key));
    expect(first.status).toBeLessThan(300);
    const second = await rest(method, path, body, keyed(key));
    expect([second.status, second.text, second.headers.get('idempotency-replayed')]).toEqual([
      first.status,
      first.text,
      'true',
    ]);
  });

  it('is done once for changes and for members too', async () => {
    const group = (await rest('POST', '/groups', { name: 'Keyed' })).body.data.id;
    const contact = (await rest('POST', '/contacts', { phone: newPhone() })).body.data.id;
    for (const [method, path, body] of [
      ['PATCH', `/groups/${group}`, { name: 'Keyed again' }],
      ['PATCH', `/contacts/${contact}`, { firstname: 'Ada' }],
      ['POST', `/groups/${group}/contacts`, { contact_ids: [contact] }],
    ] as const) {
      const key = freshKey();
      const first = await rest(method, path, body, keyed(key));
      const second = await rest(method, path, body, keyed(key));
      expect([path, second.text, second.headers.get('idempotency-replayed')]).toEqual([path, first.text, 'true']);
    }
  });

  it('sends one message, however often it is sent, also concurrently', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rest('POST', '/messages/text', { phone, message: 'Once' }, keyed(key))),
    );
    for (const { status, body } of answers)
      expect([200, 409]).toContain(status === 409 && body.error.code !== 'CONFLICT' ? 0 : status);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    const texts = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect(gateway.emulator.sent({ to: phone }).matched).toBe(1);
    expect(await contactsWith(phone)).toBe(1);
  });

  it('creates one contact when sent concurrently', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => rest('POST', '/contacts', { phone }, keyed(key))),
    );
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).toBe(1);
    expect(await contactsWith(phone)).toBe(1);
  });

  it('keeps its 202, with the preference that was applied', async () => {
    const [key, body] = [freshKey(), { phone: newPhone(), message: 'Later' }];
    const first = await rest('POST', '/messages/text', body, { ...keyed(key), prefer: 'respond-async' });
    const second = await rest('POST', '/messages/text', body, { ...keyed(key), prefer: 'respond-async' });
    expect([second.status, second.text, second.headers.get('preference-applied')]).toEqual([
      202,
      first.text,
      'respond-async',
    ]);
  });

  it('gets the same refusal of the network: the message is not sent again', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    gateway.emulator.setFaults({ next: [{ errorCode: 131_026, to: phone }] });
    const first = await rest('POST', '/messages/text', { phone, message: 'Hello' }, keyed(key));
    expect(first.body.error.code).toBe('MESSAGE_SEND_FAILED');
    const second = await rest('POST', '/messages/text', { phone, message: 'Hello' }, keyed(key));
    expect([second.status, second.text, second.headers.get('idempotency-replayed')]).toEqual([422, first.text, 'true']);
    expect(gateway.emulator.sent({ to: phone }).matched).toBe(0);
  });
});

describe('a key', () => {
  it('of a request that was not valid can be used again', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    expect((await rest('POST', '/contacts', { phone, email: 'no' }, keyed(key))).status).toBe(422);
    expect((await rest('POST', '/contacts', { phone }, keyed(key))).status).toBe(201);
  });

  it('means one request: another body, path or method is a mismatch', async () => {
    const key = freshKey();
    await rest('POST', '/groups', { name: 'One' }, keyed(key));
    for (const [method, path, body] of [
      ['POST', '/groups', { name: 'Two' }],
      ['POST', '/sources', { name: 'One' }],
      ['POST', '/messages/text', { phone: newPhone(), message: 'x' }],
    ] as const) {
      const answer = await rest(method, path, body, keyed(key));
      expect([answer.status, answer.body.error.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
    }
  });

  it('whose first request is still running is a conflict, and afterwards gets its answer', async () => {
    const [key, body] = [freshKey(), { phone: newPhone(), message: 'Slow' }];
    gateway.emulator.setFaults({ window: 'open', next: [{ latencyMs: 4_000, to: body.phone }] });
    const first = rest('POST', '/messages/text', body, keyed(key));
    await eventually(async () => {
      const rows = await gateway.database.query('select from messages where body = $1', ['Slow']);
      expect(rows).toHaveLength(1);
    });
    const early = await rest('POST', '/messages/text', body, keyed(key));
    expect([early.status, early.body.error?.code]).toEqual([409, 'CONFLICT']);
    const { status, text } = await first;
    const late = await rest('POST', '/messages/text', body, keyed(key));
    expect([status, late.text, late.headers.get('idempotency-replayed')]).toEqual([200, text, 'true']);
    gateway.emulator.resetFaults();
  });

  it('whose first request died before its answer was stored gets an answer made from its result', async () => {
    const [key, phone] = [freshKey(), newPhone()];
    const first = await rest('POST', '/contacts', { phone }, keyed(key));
    await gateway.database.query('update idempotency_keys set answer = null where tenant_id = $1', [tenant.id]);
    const late = await rest('POST', '/contacts', { phone }, keyed(key));
    expect([late.status, late.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(late.body.data).toEqual(first.body.data);
  });

  it('has at most 255 characters', async () => {
    expect((await rest('POST', '/groups', { name: 'Short' }, keyed('x'.repeat(255)))).status).toBe(201);
    for (const [method, path, body] of [
      ['POST', '/groups', { name: 'Long' }],
      ['POST', '/messages/text', { phone: newPhone(), message: 'x' }],
    ] as const) {
      const { status, body: answer } = await rest(method, path, body, keyed('x'.repeat(256)));
      expect([status, Object.keys(answer.error.details)]).toEqual([422, ['Idempotency-Key']]);
    }
  });

  it('belongs to its tenant', async () => {
    const key = freshKey();
    await rest('POST', '/groups', { name: 'Ours' }, keyed(key));
    const other = restOf(gateway, await gateway.addTenant({ plan: 'standard', channel: false }));
    const answer = await other('POST', '/groups', { name: 'Theirs' }, keyed(key));
    expect([answer.status, answer.body.data.name]).toEqual([201, 'Theirs']);
  });
});
