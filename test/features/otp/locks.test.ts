import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db } from '../../../src/database/database.ts';
import { mergeContacts } from '../../../src/features/contacts/merging/merge.ts';
import { cancelWaiting } from '../../../src/features/messages/dispatch/cancel.ts';
import { activate } from '../../../src/features/otp/activate.ts';
import { takeVerification } from '../../../src/features/otp/caps.sql.ts';
import { readEnded } from '../../../src/features/otp/codes.sql.ts';
import { eraseOtps } from '../../../src/features/otp/erase.ts';
import { withdrawCode } from '../../../src/features/otp/send.ts';
import { COMMAND_LINE } from '../../../src/features/tenancy/audit/author.ts';
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

test.each(['before', 'while'] as const)(
  'a code whose contact is merged %s it becomes live is that of the survivor, and fails with its message',
  async moment => {
    const phones = [newPhone(), newPhone()] as const;
    for (const phone of phones) dataOf(await caller.send({ phone, code: '111111', waitForAcceptance: false }));
    const codes = phones.map(phone => caller.rows().then(rows => rows.find(row => row['phone'] === phone)));
    const [code, other] = await Promise.all(codes);
    const [id, messageId, contactId] = [
      String(code?.['id']),
      String(code?.['message_id']),
      Number(code?.['contact_id']),
    ];
    const survivorId = Number(other?.['contact_id']);
    const { query } = harness.gateway.database;
    await query("update otps set state = 'sending', message_id = null, contact_id = null where id = $1", [id]);
    const { resources } = harness.gateway.gateway;
    const place = { phoneKey: phoneKey(phones[0]), purpose: 'authentication' };
    const makeLive = () => activate(resources, caller.id, place, id, { id: messageId, contactId });
    let activation: Promise<unknown> = Promise.resolve();
    await resources.db.transaction(async trx => {
      await mergeContacts(trx, caller.id, {
        survivorId,
        ids: [survivorId, contactId],
        reason: 'manual',
        author: COMMAND_LINE,
        nowMs: Date.now(),
      });
      if (moment === 'before') return;
      activation = makeLive();
      await eventually(async () =>
        expect(
          await query("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
        ).toHaveLength(1),
      );
    });
    expect(await (moment === 'before' ? makeLive() : activation)).toMatchObject({
      state: 'live',
      contact_id: survivorId,
    });
    // Messages to the survivor go to its own number, of which the code proves nothing.
    expect(await resources.db.transaction(trx => readEnded(trx, caller.id, [messageId]))).toEqual(
      new Map([[messageId, 'moved']]),
    );
    await resources.db.transaction(trx => cancelWaiting(trx, caller.id, { messageIds: [messageId] }, 'A test.'));
    expect((await caller.rows()).find(row => row['id'] === id)).toMatchObject({ state: 'failed' });
  },
);
