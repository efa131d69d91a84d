import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { giveBackSend, readUse, takeHour, takeSend, takeVerification } from '../../../src/features/otp/caps.sql.ts';
import type { PhoneUse } from '../../../src/features/otp/caps.ts';
import {
  deleteSending,
  handOn,
  type LockedCode,
  lockCodes,
  makeLive,
  readEnded,
  writeContacts,
} from '../../../src/features/otp/codes.sql.ts';
import type { OtpRow } from '../../../src/features/otp/otp.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type ColumnsOf, describeColumns, describeStatements } from '../../support/describe-statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const PLACE = { phoneKey: '14155550123', purpose: 'login' };
const WINDOW = { windowMs: 1_000, max: 1 };

test('transitions of a code are described as their row types say', async () => {
  const message = { id: randomUUID(), contactId: 1 };
  expect(await describeColumns(database.url, db => makeLive(db, 1, PLACE, randomUUID(), message))).toEqual({
    id: 'uuid',
    phone: 'text',
    contact_id: 'bigint',
    message_id: 'uuid',
    purpose: 'text',
    template_name: 'text',
    language: 'text',
    state: 'text',
    attempts: 'integer',
    expiry_minutes: 'integer',
    expires_at: 'timestamp with time zone',
    created_at: 'timestamp with time zone',
    verified_at: 'timestamp with time zone',
    phone_key: 'text',
    mac: 'bytea',
  } satisfies ColumnsOf<OtpRow>);
  expect(await describeColumns(database.url, db => deleteSending(db, 1, randomUUID()))).toEqual({ id: 'uuid' });
  expect(await describeColumns(database.url, db => lockCodes(db, 1, [message]))).toEqual({
    id: 'uuid',
    is_predecessor: 'boolean',
  } satisfies ColumnsOf<LockedCode>);
  expect(await describeColumns(database.url, db => handOn(db, 1, randomUUID()))).toBeUndefined();
  expect(await describeColumns(database.url, db => writeContacts(db, 1, [1]))).toBeUndefined();
  expect(await describeColumns(database.url, db => readEnded(db, 1, [message.id]))).toEqual({
    id: 'uuid',
    state: 'text',
  });
});

test('counters of caps are described as their row types say', async () => {
  for (const resends of [WINDOW, undefined])
    expect(await describeColumns(database.url, db => takeSend(db, 1, PLACE.phoneKey, WINDOW, resends))).toEqual({
      now: 'timestamp with time zone',
    });
  expect(await describeColumns(database.url, db => takeHour(db, 1, new Date().toISOString(), 1))).toEqual({
    sends: 'integer',
  });
  expect(await describeColumns(database.url, db => takeVerification(db, 1, PLACE.phoneKey, WINDOW, WINDOW))).toEqual({
    tenant_id: 'bigint',
  });
  const now = new Date().toISOString();
  for (const isResend of [true, false])
    expect(
      await describeStatements(database.url, db => giveBackSend(db, 1, PLACE.phoneKey, now, isResend, now)),
    ).toHaveLength(2);
  expect(await describeColumns(database.url, db => readUse(db, 1, PLACE.phoneKey))).toEqual({
    sends: 'jsonb',
    resends: 'jsonb',
    verifications: 'jsonb',
    failures: 'jsonb',
    now: 'timestamp with time zone',
  } satisfies ColumnsOf<PhoneUse>);
});
