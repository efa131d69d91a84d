import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cleanOtps } from '../../../src/features/otp/housekeeping.ts';
import { codeOf, dataOf, faultsOf } from '../../support/answers.ts';
import type { GraphQLAnswer } from '../../support/gateway.ts';
import { startSecondGateway } from '../../support/second-gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, capOf, type Harness, otherThan, RESEND, SEND, startHarness, VERIFY } from './harness.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let harness: Harness;
let caller: Caller;
let phone: string;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(async () => {
  caller ??= await harness.tenant();
  phone = newPhone();
});
afterAll(() => harness.gateway.stop());

/** Sends a code that is known beforehand: nobody has to wait for the network. */
async function sent(input: object = {}): Promise<string> {
  const code = String(randomInt(100_000, 1_000_000));
  dataOf(await caller.send({ phone, code, waitForAcceptance: false, ...input }));
  return code;
}
const outcome = async (code: string, more?: object) => dataOf(await caller.verify(phone, code, more)).verifyOtp;

test('the right code verifies once', async () => {
  dataOf(await caller.send({ phone }));
  const code = await caller.codeFor(phone);
  expect(await outcome(code)).toEqual({
    verified: true,
    reason: null,
    attemptsRemaining: 0,
    phone,
    purpose: 'authentication',
    verifiedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    userErrors: [],
  });
  expect(await outcome(code)).toMatchObject({ verified: false, reason: 'OTP_NOT_FOUND', verifiedAt: null });
  expect(await caller.status(phone)).toMatchObject({ hasActiveOtp: false, createdAt: null });
});

test('all spellings of a number are equal, and spaces in a code are ignored', async () => {
  phone = '+5511987654321';
  const code = await sent();
  phone = '55 11 8765-4321';
  expect(await outcome(` ${code.slice(0, 3)} ${code.slice(3)}`)).toMatchObject({ verified: true });
});

test('after five wrong codes, neither a sixth nor the right one is compared', async () => {
  const code = await sent();
  for (const left of [4, 3, 2, 1, 0])
    expect(await outcome(otherThan(code))).toMatchObject({
      verified: false,
      reason: 'INVALID_CODE',
      attemptsRemaining: left,
    });
  for (const guess of [otherThan(code), code])
    expect(await outcome(guess)).toMatchObject({
      verified: false,
      reason: 'MAX_ATTEMPTS_EXCEEDED',
      attemptsRemaining: 0,
    });
  expect(await caller.status(phone)).toMatchObject({
    hasActiveOtp: false,
    isExpired: false,
    verificationAttempts: 5,
    attemptsRemaining: 0,
  });
  expect(await outcome(await sent())).toMatchObject({ verified: true });
});

test('the fifth attempt can succeed', async () => {
  const code = await sent();
  for (let tries = 0; tries < 4; tries += 1) await outcome(otherThan(code));
  expect(await outcome(code)).toMatchObject({ verified: true });
});

test('an expired code never verifies, and reading its status changes nothing', async () => {
  const since = Date.now();
  const code = await sent({ expiryMinutes: 1 });
  const before = await caller.rows();
  const status = await caller.status(phone);
  const elapsed = (Date.now() - since) / 1_000;
  expect(status).toEqual({
    hasActiveOtp: true,
    isExpired: false,
    expiresAt: expect.any(String),
    expiresInSeconds: expect.any(Number),
    verificationAttempts: 0,
    maxAttempts: 5,
    attemptsRemaining: 5,
    createdAt: expect.any(String),
  });
  expect(status['expiresInSeconds']).toBeGreaterThan(58 - elapsed);
  expect(status['expiresInSeconds']).toBeLessThanOrEqual(60);
  expect(await caller.rows()).toEqual(before);
  await harness.pass(MINUTE);
  expect(await outcome(code)).toMatchObject({ verified: false, reason: 'OTP_EXPIRED', attemptsRemaining: 0 });
  expect(await caller.status(phone)).toMatchObject({ hasActiveOtp: false, isExpired: true, expiresInSeconds: 0 });
});

test('a number without a code, another purpose and another tenant answer OTP_NOT_FOUND', async () => {
  const code = await sent({ purpose: 'Payment' });
  const other = await harness.tenant({ channel: false });
  expect(await outcome(code)).toMatchObject({ verified: false, reason: 'OTP_NOT_FOUND', attemptsRemaining: 0 });
  expect(dataOf(await other.verify(phone, code, { purpose: 'payment' })).verifyOtp.reason).toBe('OTP_NOT_FOUND');
  expect(await other.status(phone, 'payment')).toMatchObject({ hasActiveOtp: false, createdAt: null });
  expect(dataOf(await caller.verify(newPhone(), code)).verifyOtp.reason).toBe('OTP_NOT_FOUND');
  expect(await outcome(code, { purpose: 'PAYMENT' })).toMatchObject({ verified: true, purpose: 'payment' });
});

test('an invalid code is a field error and does not count as an attempt', async () => {
  await sent();
  for (const code of ['', '123', 'x'.repeat(16), '12345ü'])
    expect(Object.keys(faultsOf(await caller.verify(phone, code)))).toEqual(['code']);
  expect(Object.keys(faultsOf(await caller.verify('12', '123456', { purpose: 'a b' }))).sort()).toEqual([
    'phone',
    'purpose',
  ]);
  expect(await caller.status(phone)).toMatchObject({ verificationAttempts: 0 });
});

test('a row that was copied to another number, purpose or id verifies nothing', async () => {
  const code = await sent();
  const [row] = (await caller.rows()).filter(each => each['phone'] === phone);
  const { query } = harness.gateway.database;
  const victim = newPhone();
  await query('update otps set phone = $2, phone_key = $3 where id = $1', [row?.['id'], victim, victim.slice(1)]);
  expect(dataOf(await caller.verify(victim, code)).verifyOtp.reason).toBe('INVALID_CODE');
});

test('verification attempts append events without the code', async () => {
  caller = await harness.tenant();
  const code = await sent();
  await outcome(otherThan(code));
  await outcome(code);
  for (let tries = 0, wrong = otherThan(await sent()); tries < 6; tries += 1) await outcome(wrong);
  const events = await caller.events();
  expect(
    events.map(({ type, payload }) => [type, payload.otp['attempts'], payload.otp['state'], payload.reason]),
  ).toEqual([
    ['otp.sent', 0, 'live', undefined],
    ['otp.failed', 1, 'live', 'INVALID_CODE'],
    ['otp.verified', 2, 'verified', undefined],
    ['otp.sent', 0, 'live', undefined],
    ...[1, 2, 3, 4].map(attempts => ['otp.failed', attempts, 'live', 'INVALID_CODE']),
    ['otp.failed', 5, 'exhausted', 'INVALID_CODE'],
    ['otp.failed', 5, 'exhausted', 'MAX_ATTEMPTS_EXCEEDED'],
  ]);
  expect(Object.keys(events[0]?.payload.otp ?? {}).sort()).toEqual(
    'attempts chat_message_id contact_id created_at expires_at expiry_minutes id language phone purpose state template_name verified_at'.split(
      ' ',
    ),
  );
});

describe('concurrent requests', () => {
  const tally = (answers: readonly GraphQLAnswer[]): Record<string, number> => {
    const words = answers.map(answer => codeOf(answer) ?? answer.data.verifyOtp.reason ?? 'VERIFIED');
    return Object.fromEntries([...Map.groupBy(words, word => word)].map(([word, all]) => [word, all.length]).sort());
  };

  test('of 50 right verifications from two processes exactly one succeeds', async () => {
    // Both by the same clock, which nobody has moved.
    const race = await startHarness();
    const beside = await startSecondGateway(race.gateway);
    try {
      const racer = await race.tenant();
      const code = '864209';
      dataOf(await racer.send({ phone, code }));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          index % 2 ? racer.verify(phone, code) : beside.graphql(VERIFY, { input: { phone, code } }, racer.token),
        ),
      );
      expect(tally(answers)).toEqual({ OTP_NOT_FOUND: 9, RATE_LIMIT_EXCEEDED: 40, VERIFIED: 1 });
      expect((await racer.events()).filter(({ type }) => type === 'otp.verified')).toHaveLength(1);
    } finally {
      await beside.stop();
      await race.gateway.stop();
    }
  });

  test('of 50 wrong guesses five are compared and ten are counted', async () => {
    const code = await sent();
    const answers = await Promise.all(Array.from({ length: 50 }, () => caller.verify(phone, otherThan(code))));
    expect(tally(answers)).toEqual({ INVALID_CODE: 5, MAX_ATTEMPTS_EXCEEDED: 5, RATE_LIMIT_EXCEEDED: 40 });
    const left = answers.map(answer => answer.data?.verifyOtp?.attemptsRemaining).filter(n => n != null);
    expect(left.sort()).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
  });

  test('guesses for several purposes of a number share its caps', async () => {
    const purposes = Array.from({ length: 4 }, (_, index) => `purpose-${index}`);
    for (const purpose of purposes) await sent({ purpose });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => caller.verify(phone, 'none', { purpose: purposes[index % 4] })),
    );
    expect(tally(answers)).toEqual({ INVALID_CODE: 10, RATE_LIMIT_EXCEEDED: 30 });
  });
});

test('the eleventh verification in a minute is rejected with the wait, and does not count as an attempt', async () => {
  const code = await sent();
  const since = Date.now();
  for (let count = 0; count < 10; count += 1) await caller.verify(phone, '000000', { purpose: 'another' });
  const refused = await caller.verify(phone, code);
  const elapsed = (Date.now() - since) / 1_000;
  const { seconds, limit } = capOf(refused);
  expect(limit).toBe(10);
  expect(seconds).toBeGreaterThan(59 - elapsed);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(await caller.status(phone)).toMatchObject({ verificationAttempts: 0, attemptsRemaining: 5 });
  await harness.pass(seconds * 1_000);
  expect(await outcome(code)).toMatchObject({ verified: true });
});

test('guesses are capped across resends: after 20 wrong codes nothing verifies until the first is a day old', async () => {
  let refused: GraphQLAnswer | undefined;
  let guesses = 0;
  for (let round = 0; round < 5 && !refused; round += 1) {
    const code = await sent();
    for (let tries = 0; tries < 5 && !refused; tries += 1) {
      const answer = await caller.verify(phone, otherThan(code));
      if (codeOf(answer)) refused = answer;
      else guesses += 1;
    }
    await harness.pass(5 * MINUTE);
  }
  expect(guesses).toBe(20);
  const { seconds, limit } = capOf(refused ?? {});
  expect(limit).toBe(20);
  const code = await sent();
  expect(codeOf(await caller.verify(phone, code))).toBe('RATE_LIMIT_EXCEEDED');
  expect(seconds * 1_000).toBeGreaterThan(DAY - 30 * MINUTE);
  await harness.pass(seconds * 1_000);
  expect(await outcome(await sent())).toMatchObject({ verified: true });
});

test.each([5 * MINUTE, -5 * MINUTE])(
  'codes, caps and the clean-up go by the clock of the database, and not by that of a process that is %i ms off',
  async off => {
    const beside = await startSecondGateway(harness.gateway, undefined, {}, {}, { now: () => Date.now() + off });
    try {
      const [number, other, late] = [newPhone(), newPhone(), newPhone()];
      const there = (document: string, input: object) => beside.graphql(document, { input }, caller.token);
      const template = { templateName: 'login_code' };
      dataOf(await caller.send({ phone: number, code: '135791', expiryMinutes: 1 }));
      const sent = dataOf(await there(SEND, { ...template, phone: other, code: '135791', expiryMinutes: 1 })).sendOtp
        .otp;
      const [stored] = (await caller.rows()).filter(row => row['phone'] === other);
      expect(Date.parse(sent.expiresAt) - Date.now()).toBeLessThan(4 * MINUTE);
      expect(stored?.['state']).toBe('live');
      for (const { resources } of [beside, harness.gateway.gateway]) await cleanOtps(resources);
      for (const one of [number, other]) expect(await caller.status(one)).toMatchObject({ hasActiveOtp: true });
      // Three resends in five minutes, wherever they come from.
      dataOf(await caller.send({ phone: number }, 'resend'));
      dataOf(await there(RESEND, { ...template, phone: number }));
      dataOf(await caller.send({ phone: number }, 'resend'));
      expect(capOf(await there(RESEND, { ...template, phone: number })).limit).toBe(3);
      expect(dataOf(await there(VERIFY, { phone: other, code: '135791' })).verifyOtp.verified).toBe(true);
      dataOf(await caller.send({ phone: late, code: '135791', expiryMinutes: 1 }));
      await harness.pass(MINUTE);
      expect(dataOf(await there(VERIFY, { phone: late, code: '135791' })).verifyOtp.reason).toBe('OTP_EXPIRED');
    } finally {
      await beside.stop();
    }
  },
);
