import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Caller, type Harness, otherThan, startHarness } from '../features/otp/harness.ts';
import { newPhone } from '../support/seed.ts';
import { type Rest, type RestAnswer, restOf, TIMESTAMP } from './client.ts';

const MINUTE = 60_000;

let harness: Harness;
let tenant: Caller;
let rest: Rest;
let phone: string;

beforeAll(async () => {
  harness = await startHarness();
  tenant = await harness.tenant();
  rest = restOf(harness.gateway, tenant);
});
beforeEach(() => {
  harness.gateway.emulator.resetFaults();
  phone = newPhone();
});
afterAll(() => harness.gateway.stop());

const send = (body: object = {}, headers?: Record<string, string>) =>
  rest('POST', '/auth/send-otp', { phone, template_name: 'login_code', ...body }, headers);
const resend = (body: object = {}, headers?: Record<string, string>) =>
  rest('POST', '/auth/resend', { phone, template_name: 'login_code', ...body }, headers);
const verify = (code: string, body: object = {}) => rest('POST', '/auth/verify', { phone, code, ...body });
const status = async (body: object = {}) => (await rest('POST', '/auth/status', { phone, ...body })).body.data;
const errorOf = ({ status: http, body }: RestAnswer) => [http, body.error?.code, body.error?.details];

describe('POST /auth/send-otp', () => {
  it('answers once the network accepted the message, without the code', async () => {
    const answer = await send();
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      message_id: expect.stringMatching(/^wamid\./),
      contact_id: expect.any(Number),
      phone: phone.slice(1),
      template_name: 'login_code',
      language: 'en',
      code_sent: true,
      expiry_minutes: 10,
      expires_at: expect.stringMatching(TIMESTAMP),
      status: expect.stringMatching(/^(sent|delivered|read)$/),
      sent_at: expect.stringMatching(TIMESTAMP),
    });
    const code = await tenant.codeFor(phone);
    expect(code).toMatch(/^\d{6}$/);
    expect(answer.text.replace(answer.body.data.message_id, '')).not.toContain(code);
  });

  it('takes numbers with or without quotes, and a code chosen by the caller', async () => {
    const { body } = await send({ code: 482913, expiry_minutes: '60', language: 'de', purpose: 'Payment' });
    expect(body.data).toMatchObject({ language: 'de', expiry_minutes: 60 });
    expect(await tenant.codeFor(phone)).toBe('482913');
    expect((await verify('482913', { purpose: 'payment' })).body.data).toMatchObject({ purpose: 'payment' });
  });

  it('returns the code on a sandbox channel only', async () => {
    const sandbox = await harness.tenant();
    await harness.gateway.database.query('update channels set is_sandbox = true where tenant_id = $1', [sandbox.id]);
    const { body } = await restOf(harness.gateway, sandbox)('POST', '/auth/send-otp', {
      phone,
      template_name: 'login_code',
    });
    expect(body.data.sandbox_code).toBe(await sandbox.codeFor(phone));
  });

  it('stores the code of a sandbox channel nowhere, also not for a repeated request', async () => {
    const sandbox = await harness.tenant();
    const { query } = harness.gateway.database;
    await query('update channels set is_sandbox = true where tenant_id = $1', [sandbox.id]);
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const ask = () =>
      restOf(harness.gateway, sandbox)('POST', '/auth/send-otp', { phone, template_name: 'login_code' }, headers);
    const { sandbox_code: code, ...others } = (await ask()).body.data;
    expect(code).toBe(await sandbox.codeFor(phone));
    const [row] = await query<{ answer: string }>(
      `select answer::text from idempotency_keys where key = encode(sha256(convert_to($1, 'UTF8')), 'hex')`,
      [headers['idempotency-key']],
    );
    expect(row?.answer).toContain(others.expires_at);
    expect(row?.answer).not.toContain(`"${code}`);
    expect(row?.answer).not.toContain('sandbox_code');
    const again = await ask();
    expect([again.body.data, again.headers.get('idempotency-replayed')]).toEqual([others, 'true']);
  });

  it('answers 202 at once with Prefer: respond-async', async () => {
    harness.gateway.emulator.setFaults({ latencyMs: 300 });
    const { status: http, body } = await send({}, { prefer: 'respond-async' });
    expect([http, body.data]).toEqual([
      202,
      expect.objectContaining({ message_id: null, status: 'queued', sent_at: null }),
    ]);
    expect((await status()).has_active_otp).toBe(true);
  });

  it('reports faults under the names of this interface', async () => {
    const cases: [object, string[]][] = [
      [{ phone: '12' }, ['phone']],
      [{ phone: null, template_name: '' }, ['phone', 'template_name']],
      [{ template_name: 'order' }, ['template_name']],
      [{ template_name: 'paused_code' }, ['template_name']],
      [{ language: 'fr' }, ['language']],
      [{ code: '1', expiry_minutes: 0, purpose: '?' }, ['code', 'expiry_minutes', 'purpose']],
      [{ expiry_minutes: 'soon' }, ['expiry_minutes']],
    ];
    for (const [input, fields] of cases) {
      const answer = await send(input);
      expect([answer.status, Object.keys(answer.body.error.details).sort()]).toEqual([422, fields]);
    }
    expect((await status()).created_at).toBeNull();
  });

  it('repeats its answer under an idempotency key, word for word, and sends nothing again', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = await send({}, headers);
    const again = await send({}, headers);
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    expect(harness.gateway.emulator.sent({ to: phone }).matched).toBe(1);
    expect(errorOf(await send({ language: 'de' }, headers))[1]).toBe('IDEMPOTENCY_MISMATCH');
  });

  it('reports why the network refused, and the previous code stays valid', async () => {
    await send({ code: '424242' });
    harness.gateway.emulator.setFaults({ next: [{ errorCode: 131_026 }] });
    expect(errorOf(await resend())).toEqual([
      422,
      'MESSAGE_SEND_FAILED',
      { provider: expect.objectContaining({ code: 131_026 }), chat_message_id: expect.any(String) },
    ]);
    expect((await verify('424242')).status).toBe(200);
  });
});

describe('POST /auth/verify', () => {
  it('verifies once', async () => {
    await send();
    const code = await tenant.codeFor(phone);
    const { status: http, body } = await verify(code);
    expect([http, body.data]).toEqual([
      200,
      { phone: phone.slice(1), purpose: 'authentication', verified_at: expect.stringMatching(TIMESTAMP) },
    ]);
    expect(errorOf(await verify(code))).toEqual([422, 'OTP_NOT_FOUND', { attempts_remaining: 0 }]);
  });

  it('gives a repetition with its key the same answer, and counts no further attempt', async () => {
    await send();
    const code = await tenant.codeFor(phone);
    const keyed = (key: string, given: string) =>
      rest('POST', '/auth/verify', { phone, code: given }, { 'idempotency-key': `${phone} ${key}` });
    const wrong = await keyed('wrong', otherThan(code));
    expect(errorOf(wrong)).toEqual([422, 'INVALID_CODE', { attempts_remaining: 4 }]);
    const again = await keyed('wrong', otherThan(code));
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([wrong.text, 'true']);
    expect((await status()).verification_attempts).toBe(1);
    expect(errorOf(await keyed('wrong', code))[1]).toBe('IDEMPOTENCY_MISMATCH');
    const right = await keyed('right', code);
    expect(right.status).toBe(200);
    expect((await keyed('right', code)).text).toBe(right.text);
    expect(errorOf(await verify(code))[1]).toBe('OTP_NOT_FOUND');
  });

  it('counts five wrong codes, then rejects every code', async () => {
    await send();
    const code = await tenant.codeFor(phone);
    for (const attempts_remaining of [4, 3, 2, 1, 0])
      expect(errorOf(await verify(otherThan(code)))).toEqual([422, 'INVALID_CODE', { attempts_remaining }]);
    expect(errorOf(await verify(code))).toEqual([422, 'MAX_ATTEMPTS_EXCEEDED', { attempts_remaining: 0 }]);
  });

  it('distinguishes an expired code from one that was never sent', async () => {
    await send({ expiry_minutes: 1 });
    const code = await tenant.codeFor(phone);
    await harness.pass(MINUTE);
    expect(errorOf(await verify(code))).toEqual([422, 'OTP_EXPIRED', { attempts_remaining: 0 }]);
    phone = newPhone();
    expect(errorOf(await verify(code))).toEqual([422, 'OTP_NOT_FOUND', { attempts_remaining: 0 }]);
  });

  it('verifies a number at most ten times a minute, with the time to wait', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => verify('000000')));
    const refused = answers.filter(answer => answer.status === 429);
    expect(refused).toHaveLength(2);
    for (const answer of refused) {
      expect(errorOf(answer)).toEqual([429, 'RATE_LIMIT_EXCEEDED', { retry_after: expect.any(Number), limit: 10 }]);
      expect(answer.headers.get('retry-after')).toBe(String(answer.body.error.details.retry_after));
    }
  });

  it('needs a number and a code', async () => {
    const answer = await rest('POST', '/auth/verify', {});
    expect([answer.status, Object.keys(answer.body.error.details).sort()]).toEqual([422, ['code', 'phone']]);
  });
});

describe('POST /auth/resend', () => {
  it('replaces the last code, three times in five minutes', async () => {
    await send({ code: 'FIRST-1' });
    for (let count = 0; count < 3; count += 1) expect((await resend()).status).toBe(200);
    const code = await tenant.codeFor(phone);
    expect(code).toMatch(/^\d{6}$/);
    const refused = await resend();
    expect(errorOf(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED', { retry_after: expect.closeTo(299, -1), limit: 3 }]);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.headers.get('x-ratelimit-reset')).toMatch(/^\d{10}$/);
    expect(errorOf(await verify('FIRST-1'))[1]).toBe('INVALID_CODE');
    expect((await verify(code)).status).toBe(200);
  });

  it('is idempotent under a key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const first = await resend({}, headers);
    expect((await resend({}, headers)).text).toBe(first.text);
    expect(harness.gateway.emulator.sent({ to: phone }).matched).toBe(1);
  });
});

describe('POST /auth/status', () => {
  it('returns the state of the code and changes nothing', async () => {
    const nothing = {
      phone: phone.slice(1),
      purpose: 'authentication',
      has_active_otp: false,
      expires_at: null,
      expires_in_seconds: 0,
      is_expired: false,
      verification_attempts: 0,
      max_attempts: 5,
      attempts_remaining: 0,
      created_at: null,
    };
    expect(await status()).toEqual(nothing);
    await send();
    await verify('wrong');
    const active = {
      ...nothing,
      has_active_otp: true,
      expires_at: expect.stringMatching(TIMESTAMP),
      expires_in_seconds: expect.closeTo(598, -1),
      verification_attempts: 1,
      attempts_remaining: 4,
      created_at: expect.stringMatching(TIMESTAMP),
    };
    expect(await status()).toEqual(active);
    expect(await status()).toEqual(active);
    await harness.pass(10 * MINUTE);
    expect(await status()).toMatchObject({
      has_active_otp: false,
      is_expired: true,
      expires_in_seconds: 0,
      attempts_remaining: 0,
    });
    expect(await status({ purpose: 'another' })).toEqual({ ...nothing, purpose: 'another' });
  });

  it('shows nothing of another tenant', async () => {
    await send();
    const stranger = restOf(harness.gateway, await harness.tenant({ channel: false }));
    expect((await stranger('POST', '/auth/status', { phone })).body.data.created_at).toBeNull();
    expect(errorOf(await stranger('POST', '/auth/verify', { phone, code: await tenant.codeFor(phone) }))[1]).toBe(
      'OTP_NOT_FOUND',
    );
  });
});

describe('GET /auth/templates', () => {
  it('lists the approved ones of the category, with the rows and parameters of GET /templates', async () => {
    const { body } = await rest('GET', '/auth/templates?per_page=1&page=2');
    expect(body.meta.pagination).toMatchObject({ current_page: 2, total: 2 });
    const [row] = body.data;
    expect(row).toMatchObject({ name: 'login_code', category: 'AUTHENTICATION', status: 'APPROVED' });
    expect(row).toEqual((await rest('GET', `/templates/${row.template_id}`)).body.data);
    const chosen = await rest('GET', '/auth/templates?fields=name,language&search=login&sort=-name');
    expect(Object.keys(chosen.body.data[0]).sort()).toEqual(['language', 'name']);
    const names = async (filter: string) =>
      (await rest('GET', `/auth/templates?fields=language&${filter}`)).body.data.map(
        (shown: { language: string }) => shown.language,
      );
    expect(await names('filter[language]=de')).toEqual(['de']);
    expect(await names('filter[category][in]=AUTHENTICATION,MARKETING')).toHaveLength(2);
    for (const other of ['filter[status]=PAUSED', 'filter[category]=MARKETING', 'filter[category][in]=UTILITY'])
      expect([other, await names(other)]).toEqual([other, []]);
    expect((await rest('GET', '/auth/templates?filter[nonsense]=1')).status).toBe(422);
  });
});

it('each route has its scope', async () => {
  const token = async (scopes: string[]) => ({
    authorization: `Bearer ${await harness.gateway.addToken(tenant, { scopes })}`,
  });
  const [sends, reads] = [await token(['messages:send']), await token(['templates:read'])];
  for (const path of ['/auth/send-otp', '/auth/resend', '/auth/verify', '/auth/status']) {
    const body = { phone, template_name: 'login_code', code: '123456' };
    expect([path, (await rest('POST', path, body, reads)).status]).toEqual([path, 403]);
    expect([path, (await rest('POST', path, body, sends)).status]).not.toEqual([path, 403]);
  }
  expect((await rest('GET', '/auth/templates', undefined, sends)).status).toBe(403);
  expect((await rest('GET', '/auth/templates', undefined, reads)).status).toBe(200);
});
