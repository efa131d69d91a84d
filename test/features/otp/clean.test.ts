import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanOtps } from '../../../src/features/otp/clean.ts';
import { codeOf, dataOf } from '../../support/answers.ts';
import { type Caller, type Ground, nextPhone, otherThan, startGround } from './ground.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let ground: Ground;
let caller: Caller;
beforeAll(async () => {
  ground = await startGround();
  caller = await ground.tenant();
});
afterAll(() => ground.gateway.stop());

const clean = () => cleanOtps(ground.gateway.gateway.resources);
const query = (text: string, values: unknown[] = []) =>
  ground.gateway.database.query<Record<string, unknown>>(text, values);
const rowOf = async (phone: string) => (await caller.rows()).find(row => row['phone'] === phone);
const eventsOf = async (phone: string) =>
  (await caller.events()).filter(({ payload }) => payload.otp['phone'] === phone).map(({ type }) => type);
const reasonOf = async (phone: string, code: string) => dataOf(await caller.verify(phone, code)).verifyOtp.reason;

test('a code that ran out is told once, by however many processes, and is removed a day later with all that was counted', async () => {
  const [unused, used, spent] = [nextPhone(), nextPhone(), nextPhone()];
  for (const phone of [unused, used, spent]) dataOf(await caller.send({ phone, code: '135790', expiryMinutes: 1 }));
  await caller.verify(used, '135790');
  for (let count = 0; count < 5; count += 1) await caller.verify(spent, otherThan('135790'));
  await clean();
  expect(await eventsOf(unused)).toEqual(['otp.sent']);

  ground.pass(MINUTE);
  await Promise.all([clean(), clean(), clean()]);
  expect(await eventsOf(unused)).toEqual(['otp.sent', 'otp.expired']);
  for (const phone of [used, spent]) expect(await eventsOf(phone)).not.toContain('otp.expired');
  const told = (await caller.events()).find(({ type }) => type === 'otp.expired');
  expect(told?.payload.otp).toMatchObject({ phone: unused, state: 'expired', attempts: 0 });
  expect(told?.payload.otp).not.toHaveProperty('mac');
  expect(await reasonOf(unused, '135790')).toBe('OTP_EXPIRED');

  ground.pass(DAY);
  await clean();
  expect(await caller.rows()).toEqual([]);
  expect(await query('select from otp_hours where tenant_id = $1', [caller.id])).toEqual([]);
  expect(await query('select from otp_phones where tenant_id = $1', [caller.id])).toEqual([]);
  expect(await reasonOf(unused, '135790')).toBe('OTP_NOT_FOUND');
});

/** A process that was killed between the message and the code leaves this behind. */
const interrupt = (phone: string) =>
  query(
    "update otps set state = 'sending', message_id = null, contact_id = null where tenant_id = $1 and phone = $2 and state = 'live'",
    [caller.id, phone],
  );

test('a code whose sender died after its message was accepted becomes live, in the place of the one before', async () => {
  const phone = nextPhone();
  dataOf(await caller.send({ phone, code: '111111' }));
  dataOf(await caller.send({ phone, code: '222222' }));
  await interrupt(phone);
  await query(
    "update otps set state = 'live', replaced_by = null where tenant_id = $1 and phone = $2 and state = 'replaced'",
    [caller.id, phone],
  );
  await clean();
  expect(await reasonOf(phone, '222222')).toBe('INVALID_CODE');

  ground.pass(MINUTE);
  await Promise.all([clean(), clean()]);
  expect((await rowOf(phone))?.['state']).toBe('replaced');
  expect(await reasonOf(phone, '111111')).toBe('INVALID_CODE');
  expect(await reasonOf(phone, '222222')).toBeNull();
  expect((await eventsOf(phone)).filter(type => type === 'otp.sent')).toHaveLength(3);
});

test('a code whose sender died before its message was accepted goes, and its idempotency key is free again', async () => {
  const [phone, idempotencyKey] = [nextPhone(), crypto.randomUUID()];
  dataOf(await caller.send({ phone, code: '111111' }));
  dataOf(await caller.send({ phone, code: '222222', idempotencyKey }));
  await interrupt(phone);
  await query(
    "update otps set state = 'live', replaced_by = null where tenant_id = $1 and phone = $2 and state = 'replaced'",
    [caller.id, phone],
  );
  await query(
    "delete from idempotency_keys where tenant_id = $1 and key = 'otp:' || (select id from otps where tenant_id = $1 and state = 'sending')",
    [caller.id],
  );
  const again = () => caller.send({ phone, code: '222222', idempotencyKey });
  expect(codeOf(await again())).toBe('CONFLICT');
  ground.pass(MINUTE);
  await clean();
  expect(codeOf(await again())).toBe('CONFLICT');
  ground.pass(5 * MINUTE);
  await clean();
  expect((await caller.rows()).filter(row => row['state'] === 'sending')).toEqual([]);
  expect(await reasonOf(phone, '111111')).toBeNull();
  dataOf(await again());
  expect(await reasonOf(phone, '222222')).toBeNull();
});
