import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR } from '../../../../src/platform/clock.ts';
import { dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually } from '../../../support/gateway.ts';
import { newPhone } from '../../../support/seed.ts';
import { type Fixture, type Owner, startFixture } from '../fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture.gateway.stop());

const SEND =
  'mutation ($to: String!, $text: String!) { sendMessage(input: { to: { phone: $to }, content: { text: { body: $text } } }) { message { id } userErrors { code } } }';

/** Somebody asks, the bot's answer has to wait, and a person answers first. @returns what the person who asked gets */
async function overtake(owner: Owner): Promise<string[]> {
  const { query } = fixture.gateway.database;
  const setChannel = (status: string) =>
    query('update channels set status = $2 where tenant_id = $1', [owner.id, status]);
  await setChannel('paused');
  const phone = newPhone();
  await owner.hears(phone, 'hi');
  await owner.postponed();
  await setChannel('active');
  dataOf(await owner.ask(SEND, { to: phone, text: 'I am a person' }));
  await query("update bot_replies set next_attempt_at = clock_timestamp() - interval '1 second' where tenant_id = $1", [
    owner.id,
  ]);
  fixture.gateway.gateway.resources.lanes.wake('bots', String(owner.id));
  return owner.answers(phone, 1);
}

test('an answer that has to be tried again is not sent after a person has answered', async () => {
  const owner = await fixture.tenant();
  await owner.bot({ handOverMinutes: 30 });
  expect(await overtake(owner)).toEqual(['I am a person']);
  expect(await owner.replies()).toMatchObject([{ state: 'refused', refusal: { code: 'HANDED_OVER' } }]);
  expect(await owner.skips()).toMatchObject([{ reason: 'HANDED_OVER' }]);
});

test('an answer of a bot without a hand-over time is sent though a person has answered', async () => {
  const owner = await fixture.tenant();
  await owner.bot();
  await overtake(owner);
  await eventually(async () => expect(await owner.outbound()).toBe(2));
  expect(await owner.replies()).toMatchObject([{ state: 'sent' }]);
});

test('a scheduled message of a person silences a bot from its time on, and not before', async () => {
  const owner = await fixture.tenant();
  await owner.bot({ handOverMinutes: 30 });
  const { query } = fixture.gateway.database;
  const phone = newPhone();
  const instant = new Date(Date.now() + 2 * HOUR).toISOString();
  const input = { to: { phone }, content: { text: { body: 'I am a person' } }, scheduledAt: { instant } };
  payloadOf(await fixture.gateway.mutate('sendMessage', input, 'message { status }', owner.token));
  await owner.hears(phone, 'hi');
  expect(await owner.answers(phone, 1)).toEqual(['Hello!']);
  // Two hours later.
  await fixture.pass(2 * HOUR);
  await query(
    "update messages set scheduled_at = now() - interval '1 second' where tenant_id = $1 and scheduled_at is not null",
    [owner.id],
  );
  await query("update outbox set due_at = now() - interval '1 second' where tenant_id = $1 and priority = 4", [
    owner.id,
  ]);
  expect(await owner.answers(phone, 2)).toEqual(['Hello!', 'I am a person']);
  await owner.hears(phone, 'hi');
  await owner.settled();
  expect(await owner.replies()).toHaveLength(1);
});

test('a scheduled message of a person takes the conversation from the bot at its time, a template does not', async () => {
  const owner = await fixture.tenant({ templates: true });
  await owner.bot();
  const { query } = fixture.gateway.database;
  const phone = newPhone();
  const scheduled = async (content: object) => {
    const instant = new Date(Date.now() + 2 * HOUR).toISOString();
    const input = { to: { phone }, content, scheduledAt: { instant } };
    payloadOf(await fixture.gateway.mutate('sendMessage', input, 'message { status }', owner.token));
  };
  const come = () =>
    query("update outbox set due_at = now() - interval '1 second' where tenant_id = $1 and priority = 4", [owner.id]);
  const updates = () =>
    query(
      `select payload->'conversation'->>'status' as status, payload->'previous' as previous from events
       where tenant_id = $1 and type = 'conversation.updated' and payload->'previous' ? 'status' order by xid, seq`,
      [owner.id],
    );
  await owner.hears(phone, 'hi');
  expect(await owner.answers(phone, 1)).toEqual(['Hello!']);
  const template = { name: 'order', language: 'en', body: ['Ana', '1'] };
  await scheduled({ template });
  await come();
  expect(await owner.answers(phone, 2)).toEqual(['Hello!', 'order']);
  const before = await updates();
  expect(before.at(-1)).toMatchObject({ status: 'pending' });
  await scheduled({ text: { body: 'I am a person' } });
  expect(await updates()).toEqual(before);
  await come();
  expect(await owner.answers(phone, 3)).toEqual(['Hello!', 'order', 'I am a person']);
  expect(await query('select status from conversations where tenant_id = $1', [owner.id])).toEqual([
    { status: 'open' },
  ]);
  expect(await updates()).toEqual([...before, { status: 'open', previous: { status: 'pending' } }]);
});
