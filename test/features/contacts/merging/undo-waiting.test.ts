import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { applyStatuses } from '../../../../src/features/messages/statuses/apply-statuses.ts';
import { payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { startWorker } from '../../../support/second-gateway.ts';
import { type SeededContact, seedOf } from '../../../support/seed.ts';
import { type Caller, type Harness, startHarness } from '../../otp/harness.ts';

/** Messages that wait while a merge is undone: those accepted since are sent to the number for which they were accepted. */

let harness: Harness;
let caller: Caller;
let survivor: SeededContact;
let former: SeededContact;
/** No worker runs, except where a test starts one: messages wait. The network reports no status but those that a test applies. */
beforeAll(async () => {
  harness = await startHarness({
    role: 'gateway',
    emulator: { delays: { sentMs: 60_000, deliveredMs: 60_000, readMs: 60_000 } },
  });
});
beforeEach(async () => {
  caller = await harness.tenant();
  survivor = await seedOf(harness.gateway, caller).contact();
  former = await seedOf(harness.gateway, caller).contact();
  await sendText(former.phone, 'before');
});
afterAll(() => harness.gateway.stop());

const query = <Row extends Record<string, unknown>>(text: string) =>
  harness.gateway.database.query<Row>(text, [caller.id]);
const mutate = async (name: string, input: object, selection = '') =>
  payloadOf(await harness.gateway.mutate(name, input, selection, caller.token));
const sendText = (phone: string, body: string, more: object = {}) =>
  mutate('sendMessage', { to: { phone }, content: { text: { body } }, ...more }, 'message { databaseId }');
const merge = () => mutate('mergeContacts', { id: survivor.globalId, fromIds: [former.globalId] });
const undo = () => mutate('undoMerge', { id: former.globalId });
const sentTo = (phone: string) => harness.gateway.emulator.sent({ to: phone }).matched;

/** Sends everything that waits. */
async function work(): Promise<void> {
  const worker = await startWorker(harness.gateway);
  try {
    await eventually(async () => expect(await query('select 1 from outbox where tenant_id = $1')).toEqual([]));
  } finally {
    await worker.stop();
  }
}

const ACCEPTED: Readonly<Record<string, () => Promise<unknown>>> = {
  'a text': () => sendText(survivor.phone, 'since'),
  'a scheduled text': async () => {
    const instant = new Date(Date.now() + 60_000).toISOString();
    await sendText(survivor.phone, 'since', { scheduledAt: { instant } });
  },
  'a one-time code': async () => payloadOf(await caller.send({ phone: survivor.phone, waitForAcceptance: false })),
};

test.each(Object.keys(ACCEPTED))('%s for the survivor stays with the survivor', async kind => {
  await merge();
  await ACCEPTED[kind]?.();
  await undo();
  await query(`update outbox set due_at = now() - interval '1 second' where tenant_id = $1 and due_at is not null`);
  await work();
  expect([sentTo(former.phone), sentTo(survivor.phone)]).toEqual([1, 1]);
  const found = await query(
    `select m.contact_id::int as contact, v.contact_id::int as owner, v.last_message_id = m.id as is_last
     from messages m join conversations v on v.tenant_id = m.tenant_id and v.id = m.conversation_id
     where m.tenant_id = $1 order by m.id`,
  );
  expect(found).toEqual([former, survivor].map(({ id }) => ({ contact: id, owner: id, is_last: true })));
});

test('messages accepted before the merge go back with their contact', async () => {
  await sendText(survivor.phone, 'own');
  await merge();
  await undo();
  await work();
  expect([sentTo(former.phone), sentTo(survivor.phone)]).toEqual([1, 1]);
});

test('a message to a survivor that has its number from the merged contact goes to that number', async () => {
  await query(`update contacts set phone = null, phone_key = null where tenant_id = $1 and id = ${survivor.id}`);
  await merge();
  await sendText(former.phone, 'since');
  await undo();
  await work();
  expect(sentTo(former.phone)).toBe(2);
});

test('a code follows its message to the restored contact, and fails with it', async () => {
  const phone = survivor.phone;
  await merge();
  payloadOf(await caller.send({ phone, code: '111111', waitForAcceptance: false }));
  payloadOf(await caller.send({ phone, code: '222222', waitForAcceptance: false }));
  await work();
  await undo();
  const [, second] = await caller.rows();
  await harness.gateway.gateway.resources.db.transaction(trx =>
    applyStatuses(
      trx,
      caller.id,
      [
        {
          messageId: String(second?.['message_id']),
          status: 'failed',
          at: new Date().toISOString(),
          error: { code: 131_026, title: 'Message undeliverable', details: '' },
        },
      ],
      Date.now(),
    ),
  );
  expect((await caller.rows()).map(({ state }) => state)).toEqual(['live', 'failed']);
  expect((await caller.verify(phone, '111111')).data).toMatchObject({ verifyOtp: { verified: true } });
});
