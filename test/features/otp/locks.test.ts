import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { takeVerification } from '../../../src/features/otp/caps.sql.ts';
import { eraseOtps } from '../../../src/features/otp/erase.ts';
import { withdrawCode } from '../../../src/features/otp/send.ts';
import { phoneKey } from '../../../src/platform/phone.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, startHarness } from './harness.ts';

/** Lock order: otp_phones before otps, as a verification takes them. */

let harness: Harness;
let caller: Caller;
beforeAll(async () => {
  harness = await startHarness({ role: 'gateway' });
  caller = await harness.tenant();
});
afterAll(() => harness.gateway.stop());

const PLENTY = { windowMs: 60_000, max: 100 };

/** Holds a number's counters as a verification does, until other work waits for them; the codes must still be unlocked. */
async function besideVerification(phone: string, work: (trx: Db) => Promise<unknown>): Promise<void> {
  const { db } = harness.gateway.gateway.resources;
  let other: Promise<unknown> = Promise.resolve();
  await db.transaction(async trx => {
    expect(await takeVerification(trx, caller.id, phoneKey(phone), PLENTY, PLENTY)).toBe(true);
    other = db.transaction(work);
    await eventually(async () =>
      expect(
        await harness.gateway.database.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      ).toHaveLength(1),
    );
    const { rows } = await sql`
      select from otps where tenant_id = ${caller.id} and phone = ${phone} for update nowait`.execute(trx);
    expect(rows).toHaveLength(1);
  });
  await other;
}

const phonesOf = (phone: string) =>
  harness.gateway.database.query<{ sends: unknown[] }>(
    'select sends from otp_phones where tenant_id = $1 and phone_key = $2',
    [caller.id, phoneKey(phone)],
  );

test('an erasure waits for a verification without a lock that the verification needs, and then deletes all', async () => {
  const phone = newPhone();
  dataOf(await caller.send({ phone, code: '111111', waitForAcceptance: false }));
  await besideVerification(phone, trx => eraseOtps(trx, caller.id, [], [phoneKey(phone)]));
  expect((await caller.rows()).filter(row => row['phone'] === phone)).toEqual([]);
  expect(await phonesOf(phone)).toEqual([]);
});

test('a send that is taken back waits for a verification without a lock that the verification needs', async () => {
  const phone = newPhone();
  dataOf(await caller.send({ phone, code: '111111', waitForAcceptance: false }));
  const [row] = (await caller.rows()).filter(one => one['phone'] === phone);
  await harness.gateway.database.query("update otps set state = 'sending' where id = $1", [row?.['id']]);
  const otp = {
    id: String(row?.['id']),
    phoneKey: phoneKey(phone),
    createdAt: new Date(row?.['created_at'] as Date).toISOString(),
    hour: new Date(row?.['hour'] as Date).toISOString(),
  };
  await besideVerification(phone, trx => withdrawCode(trx, caller.id, otp, 'send'));
  expect((await caller.rows()).filter(one => one['phone'] === phone)).toEqual([]);
  expect(await phonesOf(phone)).toEqual([{ sends: [] }]);
});
