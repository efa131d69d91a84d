import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findEndedCodes } from '../../../src/features/otp/find-ended-codes.ts';
import { dataOf } from '../../support/answers.ts';
import { eventually } from '../../support/gateway.ts';
import { newPhone } from '../../support/seed.ts';
import { type Caller, type Harness, startHarness } from './harness.ts';

/** A queued message whose code verifies nothing any more is not sent. */

let harness: Harness;
let caller: Caller;
let phone: string;
beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(async () => {
  caller = await harness.tenant();
  phone = newPhone();
});
afterAll(() => harness.gateway.stop());

const query = (text: string) => harness.gateway.database.query(text, [caller.id]);
const hold = () => harness.gateway.database.query('update log_origin set outbox_held_at = now()');
const release = () => harness.gateway.database.query('update log_origin set outbox_held_at = null');
/** Requests a code, whose message waits. @returns the id of the message */
async function queued(code: string, input: object = {}): Promise<string> {
  dataOf(await caller.send({ phone, code, waitForAcceptance: false, ...input }));
  return String((await caller.rows()).at(-1)?.['message_id']);
}
const FIND = 'query ($id: ID!) { message(id: $id) { status error { code title details } } }';
const read = async (id: string) => dataOf(await harness.gateway.graphql(FIND, { id }, caller.token)).message;
const failsAs = (id: string, title: string) =>
  eventually(async () => expect(await read(id)).toMatchObject({ status: 'FAILED', error: { code: 0, title } }));
const sentTo = (to: string) => harness.gateway.emulator.sent({ to }).matched;

test('a code that expires while its message is retried is not sent', async () => {
  harness.gateway.emulator.setFaults({ next: [{ errorCode: 131_000, to: phone, count: 3 }] });
  const id = await queued('111111', { expiryMinutes: 1 });
  await query(`update otps set expires_at = now() - interval '1 s' where tenant_id = $1`);
  await failsAs(id, 'Code expired');
  expect(sentTo(phone)).toBe(0);
});

test('of codes that replaced each other in the queue, the last one alone is sent', async () => {
  await hold();
  const before = [await queued('111111'), await queued('222222')];
  const last = await queued('333333');
  await query(`update messages set created_at = created_at - interval '31 s' where tenant_id = $1`);
  await release();
  await eventually(async () => expect((await read(last)).status).toMatch(/SENT|DELIVERED|READ/));
  for (const id of before) await failsAs(id, 'Code replaced');
  expect(sentTo(phone)).toBe(1);
  expect(await caller.codeFor(phone)).toBe('333333');
  expect(dataOf(await caller.verify(phone, '333333')).verifyOtp.verified).toBe(true);
});

test('a code that was deleted after it had expired is not sent, an authentication template without a code is', async () => {
  await hold();
  const id = await queued('111111');
  const other = newPhone();
  const template = {
    to: { phone: other },
    content: { template: { name: 'login_code', language: 'en', body: ['424242'] } },
  };
  dataOf(await harness.gateway.mutate('sendMessage', template, 'message { id }', caller.token));
  await query('delete from otps where tenant_id = $1');
  await query(`update messages set created_at = created_at - interval '2 days' where tenant_id = $1`);
  await release();
  await failsAs(id, 'Code expired');
  await eventually(() => expect(sentTo(other)).toBe(1));
  expect(sentTo(phone)).toBe(0);
});

test('a code whose message is sent before the code is live is sent', async () => {
  await hold();
  const id = await queued('111111');
  await query(`update otps set state = 'sending', message_id = null, contact_id = null where tenant_id = $1`);
  await release();
  await eventually(async () => expect((await read(id)).status).toMatch(/SENT|DELIVERED|READ/));
  expect(sentTo(phone)).toBe(1);
});

test('a code for a number that its contact no longer has is not sent to another one', async () => {
  await hold();
  const id = await queued('111111');
  const other = newPhone();
  const [contact] = await query('select id from contacts where tenant_id = $1');
  dataOf(
    await harness.gateway.mutate('updateContact', { id: String(contact?.['id']), phone: other }, '', caller.token),
  );
  await release();
  await failsAs(id, 'Code for another number');
  expect(sentTo(other)).toBe(0);
  expect(sentTo(phone)).toBe(0);
});

test('a code for a number that another person has got since is not sent to the user id of its contact', async () => {
  const userId = `DE.Moved${phone.slice(1)}`;
  const write = (from: string, of: string) =>
    harness.gateway.emulator.inbound({
      type: 'text',
      from,
      userId: of,
      text: 'Hi',
      phoneNumberId: caller.phoneNumberId,
    });
  const contactsWith = (condition: string) => query(`select id from contacts where tenant_id = $1 and ${condition}`);
  write(phone, userId);
  await eventually(async () => expect(await contactsWith(`phone = '${phone}'`)).toHaveLength(1));
  await hold();
  const id = await queued('111111');
  write(phone, `${userId}x`);
  await eventually(async () => expect(await contactsWith('phone is null')).toHaveLength(1));
  const { db } = harness.gateway.gateway.resources;
  expect(await findEndedCodes(db.write, caller.id, [id])).toEqual(new Map([[id, 'moved']]));
  await release();
});
