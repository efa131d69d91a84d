import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanOtps } from '../../../src/features/otp/housekeeping.ts';
import { dataOf } from '../../support/answers.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, otherThan, startHarness } from './harness.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let harness: Harness;
let caller: Caller;
beforeAll(async () => {
  harness = await startHarness();
  caller = await harness.tenant();
});
afterAll(() => harness.gateway.stop());

const clean = () => cleanOtps(harness.gateway.gateway.resources);
const query = (text: string, values: unknown[] = []) =>
  harness.gateway.database.query<Record<string, unknown>>(text, values);
const rowOf = async (phone: string) => (await caller.rows()).find(row => row['phone'] === phone);
const eventsOf = async (phone: string) =>
  (await caller.events()).filter(({ payload }) => payload.otp['phone'] === phone).map(({ type }) => type);
const reasonOf = async (phone: string, code: string) => dataOf(await caller.verify(phone, code)).verifyOtp.reason;

test('an expired code has one event with several processes, and is deleted with its counters a day later', async () => {
  const [unused, used, spent] = [newPhone(), newPhone(), newPhone()];
  for (const phone of [unused, used, spent]) dataOf(await caller.send({ phone, code: '135790', expiryMinutes: 1 }));
  await caller.verify(used, '135790');
  for (let count = 0; count < 5; count += 1) await caller.verify(spent, otherThan('135790'));
  await clean();
  expect(await eventsOf(unused)).toEqual(['otp.sent']);

  await harness.pass(MINUTE);
  await Promise.all([clean(), clean(), clean()]);
  expect(await eventsOf(unused)).toEqual(['otp.sent', 'otp.expired']);
  for (const phone of [used, spent]) expect(await eventsOf(phone)).not.toContain('otp.expired');
  const told = (await caller.events()).find(({ type }) => type === 'otp.expired');
  expect(told?.payload.otp).toMatchObject({ phone: unused, state: 'expired', attempts: 0 });
  expect(told?.payload.otp).not.toHaveProperty('mac');
  expect(await reasonOf(unused, '135790')).toBe('OTP_EXPIRED');

  await harness.pass(DAY);
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

test('a code whose process died after its message was accepted becomes live and replaces the previous one', async () => {
  const phone = newPhone();
  dataOf(await caller.send({ phone, code: '111111' }));
  dataOf(await caller.send({ phone, code: '222222' }));
  await interrupt(phone);
  await query(
    "update otps set state = 'live', replaced_by = null where tenant_id = $1 and phone = $2 and state = 'replaced'",
    [caller.id, phone],
  );
  await clean();
  expect(await reasonOf(phone, '222222')).toBe('INVALID_CODE');

  await harness.pass(MINUTE);
  await Promise.all([clean(), clean()]);
  expect((await rowOf(phone))?.['state']).toBe('replaced');
  expect(await reasonOf(phone, '111111')).toBe('INVALID_CODE');
  expect(await reasonOf(phone, '222222')).toBeNull();
  expect((await eventsOf(phone)).filter(type => type === 'otp.sent')).toHaveLength(3);
});

test('a code whose process died before its message was accepted is deleted, and its idempotency key is released', async () => {
  const [phone, idempotencyKey] = [newPhone(), crypto.randomUUID()];
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
  await clean();
  expect((await caller.rows()).filter(row => row['state'] === 'sending')).toHaveLength(1);
  await harness.pass(MINUTE);
  await clean();
  expect((await caller.rows()).filter(row => row['state'] === 'sending')).toEqual([]);
  expect(await reasonOf(phone, '111111')).toBeNull();
  dataOf(await caller.send({ phone, code: '222222', idempotencyKey }));
  expect(await reasonOf(phone, '222222')).toBeNull();
});

test('a repeated request settles the interrupted send itself instead of waiting for the clean-up', async () => {
  const accepted = { phone: newPhone(), code: '333333', idempotencyKey: crypto.randomUUID() };
  dataOf(await caller.send(accepted));
  await interrupt(accepted.phone);
  expect(dataOf(await caller.send(accepted)).sendOtp.otp).toMatchObject({ status: 'LIVE' });
  expect(harness.gateway.emulator.sent({ to: accepted.phone }).matched).toBe(1);
  expect(await reasonOf(accepted.phone, '333333')).toBeNull();

  const lost = { phone: newPhone(), code: '444444', idempotencyKey: crypto.randomUUID() };
  dataOf(await caller.send(lost));
  await interrupt(lost.phone);
  await query(
    "delete from idempotency_keys where tenant_id = $1 and key in (select 'otp:' || id from otps where state = 'sending')",
    [caller.id],
  );
  const [before] = await query("select id from otps where state = 'sending'");
  const again = dataOf(await caller.send(lost)).sendOtp.otp;
  expect([again.status, again.id === before?.['id']]).toEqual(['LIVE', false]);
  expect(await reasonOf(lost.phone, '444444')).toBeNull();
});
