import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelWaiting } from '../../../src/features/messages/dispatch/cancel.ts';
import { applyStatuses } from '../../../src/features/messages/statuses/apply-statuses.ts';
import { activate } from '../../../src/features/otp/activate.ts';
import { makeLive } from '../../../src/features/otp/codes.sql.ts';
import { phoneKey } from '../../../src/platform/phone.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, startHarness } from './harness.ts';

/** A one-time password whose message was cancelled, or failed, is no password any more. */

let harness: Harness;
let caller: Caller;
/** No worker runs: messages wait. */
beforeAll(async () => {
  harness = await startHarness({ role: 'gateway' });
  caller = await harness.tenant();
});
afterAll(() => harness.gateway.stop());

interface Sent {
  readonly id: string;
  readonly messageId: string;
  readonly contactId: number;
}

async function send(phone: string, code: string): Promise<Sent> {
  dataOf(await caller.send({ phone, code, waitForAcceptance: false }));
  const row = (await caller.rows()).findLast(one => one['phone'] === phone && one['state'] === 'live');
  return {
    id: String(row?.['id']),
    messageId: String(row?.['message_id']),
    contactId: Number(row?.['contact_id']),
  };
}

const cancel = (...messages: readonly Sent[]) =>
  harness.gateway.gateway.resources.db.transaction(trx =>
    cancelWaiting(trx, caller.id, { messageIds: messages.map(({ messageId }) => messageId) }, 'A test wants it.'),
  );
const fail = (...messages: readonly Sent[]) =>
  harness.gateway.gateway.resources.db.transaction(trx =>
    applyStatuses(
      trx,
      caller.id,
      messages.map(({ messageId }) => ({
        messageId,
        status: 'failed' as const,
        at: new Date().toISOString(),
        error: { code: 131_026, title: 'Message undeliverable', details: '' },
      })),
      Date.now(),
    ),
  );
const verify = async (phone: string, code: string) => dataOf(await caller.verify(phone, code)).verifyOtp;
const stateOf = async ({ id }: Sent) => (await caller.rows()).find(row => row['id'] === id)?.['state'];
const placeOf = (phone: string) => ({ phoneKey: phoneKey(phone), purpose: 'authentication' });

/** As if the process had died, or were slow, between the message and the code. */
const beforeLive = ({ id }: Sent) =>
  harness.gateway.database.query(
    "update otps set state = 'sending', message_id = null, contact_id = null where id = $1",
    [id],
  );

test('its code verifies nothing, and the code before it has its place back', async () => {
  const phone = newPhone();
  const first = await send(phone, '111111');
  const second = await send(phone, '222222');
  await cancel(second);
  expect([await stateOf(first), await stateOf(second)]).toEqual(['live', 'failed']);
  expect(await verify(phone, '222222')).toMatchObject({ verified: false, reason: 'INVALID_CODE' });
  expect(await verify(phone, '111111')).toMatchObject({ verified: true });
});

test('a message that fails ends its code as one that is cancelled does', async () => {
  const phone = newPhone();
  const first = await send(phone, '111111');
  const second = await send(phone, '222222');
  const third = await send(phone, '333333');
  await fail(first, second);
  expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual(['failed', 'failed', 'live']);
  const fourth = await send(phone, '444444');
  await fail(fourth);
  expect([await stateOf(third), await stateOf(fourth)]).toEqual(['live', 'failed']);
  expect(await verify(phone, '444444')).toMatchObject({ verified: false, reason: 'INVALID_CODE' });
  expect(await verify(phone, '333333')).toMatchObject({ verified: true });
});

test('a failure that comes before the code is live keeps it from becoming that', async () => {
  const phone = newPhone();
  const before = await send(phone, '111111');
  const code = await send(phone, '222222');
  await beforeLive(code);
  await harness.gateway.database.query("update otps set state = 'live', replaced_by = null where id = $1", [before.id]);
  await fail(code);
  const message = { id: code.messageId, contactId: code.contactId };
  const row = await activate(harness.gateway.gateway.resources, caller.id, placeOf(phone), code.id, message);
  expect(row?.state).toBe('failed');
  expect([await stateOf(before), await stateOf(code)]).toEqual(['live', 'failed']);
});

test('failures at once of codes that replaced each other end without a deadlock', async () => {
  for (let round = 0; round < 10; round += 1) {
    const phones = Array.from({ length: 4 }, newPhone);
    const first = await Promise.all(phones.map(phone => send(phone, '111111')));
    const second = await Promise.all(phones.map(phone => send(phone, '222222')));
    const half = (of: number): Sent[] =>
      phones.flatMap((_, index) => ((index + of) % 2 === 0 ? first : second)[index] ?? []);
    await Promise.all([fail(...half(0)), fail(...half(1))]);
    expect(await Promise.all([...first, ...second].map(stateOf))).toEqual(Array.from({ length: 8 }, () => 'failed'));
  }
});

test('of several that were cancelled together none has its place back', async () => {
  const phone = newPhone();
  const first = await send(phone, '111111');
  const second = await send(phone, '222222');
  const third = await send(phone, '333333');
  await cancel(second, third);
  expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual(['live', 'failed', 'failed']);
  await cancel(first);
  expect(await stateOf(first)).toBe('failed');
  expect(await verify(phone, '111111')).toMatchObject({ verified: false, reason: 'OTP_NOT_FOUND' });
});

test.each([
  ['in their order', [[0], [1]]],
  ['in the other order', [[1], [0]]],
  ['together', [[0, 1]]],
])('resent codes that fail %s give its place back to the one that was delivered', async (_order, failures) => {
  const phone = newPhone();
  const delivered = await send(phone, '111111');
  const resent = [await send(phone, '222222'), await send(phone, '333333')];
  for (const indexes of failures) await fail(...indexes.map(index => resent[index] as Sent));
  expect(await Promise.all([delivered, ...resent].map(stateOf))).toEqual(['live', 'failed', 'failed']);
  expect(await verify(phone, '333333')).toMatchObject({ verified: false, reason: 'INVALID_CODE' });
  expect(await verify(phone, '111111')).toMatchObject({ verified: true });
});

test('of several that failed codes replaced, the one that was sent last has its place back', async () => {
  const phone = newPhone();
  const codes: Sent[] = [];
  for (const code of ['111111', '222222', '333333', '444444', '555555']) codes.push(await send(phone, code));
  const [, , third, fourth, fifth] = codes as [Sent, Sent, Sent, Sent, Sent];
  await fail(third, fourth);
  await fail(fifth);
  expect(await Promise.all(codes.map(stateOf))).toEqual(['replaced', 'live', 'failed', 'failed', 'failed']);
  expect(await verify(phone, '222222')).toMatchObject({ verified: true });
});

test('a code comes back although the one after it had expired when the last one failed', async () => {
  const phone = newPhone();
  const [first, second, third] = [
    await send(phone, '111111'),
    await send(phone, '222222'),
    await send(phone, '333333'),
  ];
  await harness.gateway.database.query("update otps set expires_at = now() - interval '1 second' where id = $1", [
    second.id,
  ]);
  await fail(third);
  expect(await stateOf(first)).toBe('replaced');
  await fail(second);
  expect(await stateOf(first)).toBe('live');
});

test('a code that has expired, or has no attempts left, does not come back', async () => {
  for (const change of ["expires_at = now() - interval '1 second'", 'attempts = 5']) {
    const phone = newPhone();
    const [first, second, third] = [
      await send(phone, '111111'),
      await send(phone, '222222'),
      await send(phone, '333333'),
    ];
    await harness.gateway.database.query(`update otps set ${change} where id = $1`, [first.id]);
    await fail(second);
    await fail(third);
    expect(await stateOf(first)).toBe('replaced');
  }
});

test('failures of all resent codes, each at the same moment, leave the delivered one live without a deadlock', async () => {
  for (let round = 0; round < 5; round += 1) {
    const phone = newPhone();
    const delivered = await send(phone, '111111');
    const resent: Sent[] = [];
    for (const code of ['222222', '333333', '444444']) resent.push(await send(phone, code));
    await Promise.all(resent.map(code => fail(code)));
    expect(await Promise.all([delivered, ...resent].map(stateOf))).toEqual(['live', 'failed', 'failed', 'failed']);
  }
});

test('one that is cancelled behind a later code leaves that one alone', async () => {
  const phone = newPhone();
  const first = await send(phone, '111111');
  const second = await send(phone, '222222');
  const third = await send(phone, '333333');
  await cancel(second);
  expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual(['replaced', 'failed', 'live']);
  expect(await verify(phone, '333333')).toMatchObject({ verified: true });
});

test('its code does not become live afterwards, and nothing tells that it was sent', async () => {
  const phone = newPhone();
  const before = await send(phone, '111111');
  const code = await send(phone, '222222');
  await beforeLive(code);
  await harness.gateway.database.query("update otps set state = 'live', replaced_by = null where id = $1", [before.id]);
  await cancel(code);
  const events = (await caller.events()).length;
  const { resources } = harness.gateway.gateway;
  const message = { id: code.messageId, contactId: code.contactId };
  const row = await activate(resources, caller.id, placeOf(phone), code.id, message);
  expect(row?.state).toBe('failed');
  expect([await stateOf(before), await stateOf(code)]).toEqual(['live', 'failed']);
  expect(await caller.events()).toHaveLength(events);
});

test('a cancellation and a code that becomes live wait for each other, whichever is first', async () => {
  const { db } = harness.gateway.gateway.resources;
  const isWaiting = () =>
    eventually(async () => {
      const waiting = await harness.gateway.database.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(waiting).toHaveLength(1);
    });
  for (const first of ['cancel', 'make live'] as const) {
    const phone = newPhone();
    const code = await send(phone, '111111');
    await beforeLive(code);
    const message = { id: code.messageId, contactId: code.contactId };
    const makeItLive = () => activate(harness.gateway.gateway.resources, caller.id, placeOf(phone), code.id, message);
    let other: Promise<unknown> = Promise.resolve();
    await db.transaction(async trx => {
      if (first === 'cancel') await cancelWaiting(trx, caller.id, { messageIds: [code.messageId] }, 'A test wants it.');
      else expect((await makeLive(trx, caller.id, placeOf(phone), code.id, message))?.state).toBe('live');
      other = first === 'cancel' ? makeItLive() : cancel(code);
      await isWaiting();
    });
    await other;
    expect(await stateOf(code)).toBe('failed');
  }
});

test('at the same moment, over and over, no code of a cancelled message stays live', async () => {
  const phones = Array.from({ length: 12 }, newPhone);
  const codes = await Promise.all(phones.map(phone => send(phone, '111111')));
  await Promise.all(codes.map(beforeLive));
  const { resources } = harness.gateway.gateway;
  await Promise.all(
    codes.flatMap((code, index) => {
      const message = { id: code.messageId, contactId: code.contactId };
      return [cancel(code), activate(resources, caller.id, placeOf(phones[index] ?? ''), code.id, message)];
    }),
  );
  expect(await Promise.all(codes.map(stateOf))).toEqual(codes.map(() => 'failed'));
});
