import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { releaseScheduled } from '../../../../src/features/messages/scheduling/release.ts';
import { scheduledInstant } from '../../../../src/features/messages/scheduling/scheduled-at.ts';
import { codeOf, dataOf, payloadOf } from '../../../support/answers.ts';
import { eventually, startGateway, type TestGateway, type TestTenant } from '../../../support/gateway.ts';
import { type SecondGateway, startSecondGateway } from '../../../support/second-gateway.ts';
import { newPhone, seedOf } from '../../../support/seed.ts';

let gateway: TestGateway;
let beside: SecondGateway;
beforeAll(async () => {
  gateway = await startGateway({
    emulator: { faults: { webhookConnections: 1 } },
    env: { PARLEY_DATABASE_POOL: '12' },
  });
  beside = await startSecondGateway(gateway);
  await gateway.database.query(
    `insert into plans (name, max_messages, calls_per_minute) values ('three messages', 3, 6000)`,
  );
});
afterAll(async () => {
  await beside.stop();
  await gateway.stop();
});

let tenant: TestTenant;
beforeEach(async () => {
  tenant = await gateway.addTenant({ plan: 'unlimited' });
});

const FIELDS = 'databaseId status scheduledAt error { title }';
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();
const HOUR = 3_600_000;

const send = (to: string, at: object, more: object = {}) =>
  gateway.mutate(
    'sendMessage',
    { to: { phone: to }, content: { text: { body: 'Later' } }, scheduledAt: at, ...more },
    `message { ${FIELDS} }`,
    tenant.token,
  );
const sent = async (...args: Parameters<typeof send>) => dataOf(await send(...args)).sendMessage.message;
const read = async (id: string) =>
  dataOf(await gateway.graphql(`query ($id: ID!) { message(id: $id) { ${FIELDS} } }`, { id }, tenant.token)).message;

/** Lets the time of all scheduled messages of the tenant come. */
const come = () =>
  gateway.database.query(
    `update outbox set due_at = now() - interval '1 second' where tenant_id = $1 and priority = 4 returning message_id`,
    [tenant.id],
  );
const types = async (id: string) =>
  (
    await gateway.database.query<{ type: string }>(
      `select type from events where tenant_id = $1 and payload->'message'->>'id' = $2 order by xid, seq`,
      [tenant.id, id],
    )
  ).map(row => row.type);
const used = async () =>
  (
    await gateway.database.query<{ n: number }>(
      'select coalesce(sum(messages), 0)::int as n from monthly_usage where tenant_id = $1',
      [tenant.id],
    )
  )[0]?.n;

test('a scheduled message waits for its time, is listed by its status, and then goes its way', async () => {
  const at = ahead(HOUR);
  const phone = newPhone();
  const message = await sent(phone, { instant: at });
  expect(message).toMatchObject({ status: 'SCHEDULED', scheduledAt: at });
  const list = dataOf(
    await gateway.graphql(
      '{ messages(filter: { status: { eq: SCHEDULED } }) { nodes { databaseId scheduledAt } } }',
      {},
      tenant.token,
    ),
  ).messages.nodes;
  expect(list).toEqual([{ databaseId: message.databaseId, scheduledAt: at }]);
  expect(await used()).toBe(0);
  await come();
  await eventually(async () => expect((await read(message.databaseId)).status).toMatch(/SENT|DELIVERED|READ/));
  expect(gateway.emulator.sent({ to: phone }).matched).toBe(1);
  expect((await types(message.databaseId)).slice(0, 3)).toEqual([
    'message.scheduled',
    'message.queued',
    'message.sent',
  ]);
  expect(await used()).toBe(1);
});

test("a local time is that of the contact's time zone, also of one that the send creates, and when it is changed", async () => {
  const phone = newPhone();
  const recipientLocalTime = `${new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10)}T09:00`;
  const inTokyo = new Date(Date.parse(`${recipientLocalTime}:00+09:00`)).toISOString();
  const contact = { timeZone: 'Asia/Tokyo' };
  const send = { to: { phone }, contact, content: { text: { body: 'Later' } }, scheduledAt: { recipientLocalTime } };
  const made = await gateway.mutate('sendMessage', send, `message { ${FIELDS} }`, tenant.token);
  const { databaseId: id, scheduledAt } = payloadOf(made).message;
  expect(scheduledAt).toBe(inTokyo);
  expect((await sent(phone, { recipientLocalTime })).scheduledAt).toBe(inTokyo);
  const move = { id, scheduledAt: { recipientLocalTime: recipientLocalTime.replace('T09', 'T10') } };
  const moved = await gateway.mutate('rescheduleMessage', move, `message { ${FIELDS} }`, tenant.token);
  expect(Date.parse(payloadOf(moved).message.scheduledAt) - Date.parse(inTokyo)).toBe(HOUR);
});

test('a local time of a person who is known by a user id only is that of the country that it names', async () => {
  const { phoneNumberId } = tenant;
  const userId = `JP.${newPhone().slice(1)}`;
  gateway.emulator.inbound({ userId, text: 'Hi', phoneNumberId });
  const find = 'query ($userId: String!) { contactByIdentifier(identifier: { userId: $userId }) { databaseId } }';
  const contactId = await eventually(async () => {
    const { contactByIdentifier: found } = dataOf(await gateway.graphql(find, { userId }, tenant.token));
    expect(found).not.toBeNull();
    return found.databaseId;
  });
  const recipientLocalTime = `${new Date(Date.now() + 48 * HOUR).toISOString().slice(0, 10)}T09:00`;
  const send = { to: { contactId }, content: { text: { body: 'Later' } }, scheduledAt: { recipientLocalTime } };
  const made = await gateway.mutate('sendMessage', send, `message { ${FIELDS} }`, tenant.token);
  const { databaseId: id, scheduledAt } = payloadOf(made).message;
  const inTokyo = new Date(Date.parse(`${recipientLocalTime}:00+09:00`)).toISOString();
  expect(scheduledAt).toBe(inTokyo);
  const move = { id, scheduledAt: { recipientLocalTime: recipientLocalTime.replace('T09', 'T10') } };
  const moved = await gateway.mutate('rescheduleMessage', move, `message { ${FIELDS} }`, tenant.token);
  expect(Date.parse(payloadOf(moved).message.scheduledAt) - Date.parse(inTokyo)).toBe(HOUR);
});

test('a scheduled message does not hold up others to the same person', async () => {
  const phone = newPhone();
  await sent(phone, { instant: ahead(HOUR) });
  await sent(phone, { instant: ahead(2 * HOUR) });
  dataOf(
    await gateway.mutate(
      'sendMessage',
      { to: { phone }, content: { text: { body: 'Now' } } },
      'message { databaseId }',
      tenant.token,
    ),
  );
  await eventually(() => expect(gateway.emulator.sent({ to: phone }).messages).toHaveLength(1));
});

test('a scheduled message is rescheduled and cancelled until it is sent, and not after', async () => {
  const { databaseId: id } = await sent(newPhone(), { instant: ahead(HOUR) });
  const later = ahead(5 * HOUR);
  const moved = dataOf(
    await gateway.mutate(
      'rescheduleMessage',
      { id, scheduledAt: { instant: later } },
      `message { ${FIELDS} }`,
      tenant.token,
    ),
  ).rescheduleMessage.message;
  expect(moved).toMatchObject({ status: 'SCHEDULED', scheduledAt: later });
  const cancelled = dataOf(await gateway.mutate('cancelMessage', { id }, `message { ${FIELDS} }`, tenant.token));
  expect(cancelled.cancelMessage.message).toMatchObject({ status: 'CANCELLED', error: { title: 'Cancelled' } });
  expect(
    dataOf(await gateway.mutate('cancelMessage', { id }, 'message { status }', tenant.token)).cancelMessage.message
      .status,
  ).toBe('CANCELLED');
  expect(
    codeOf(
      await gateway.mutate(
        'rescheduleMessage',
        { id, scheduledAt: { instant: later } },
        'message { id }',
        tenant.token,
      ),
    ),
  ).toBe('CONFLICT');
  expect(await types(id)).toEqual(['message.scheduled', 'message.scheduled', 'message.cancelled']);
  const other = await sent(newPhone(), { instant: ahead(HOUR) });
  await come();
  await eventually(async () => expect((await read(other.databaseId)).status).toMatch(/SENT|DELIVERED|READ/));
  expect(codeOf(await gateway.mutate('cancelMessage', { id: other.databaseId }, 'message { id }', tenant.token))).toBe(
    'CONFLICT',
  );
});

test('a reschedule that is repeated with its key after the time has passed returns the message', async () => {
  const { databaseId: id } = await sent(newPhone(), { instant: ahead(HOUR) });
  const input = { id, scheduledAt: { instant: ahead(8_000) }, idempotencyKey: 'once' };
  const reschedule = () =>
    gateway.mutate('rescheduleMessage', input, 'message { databaseId scheduledAt }', tenant.token);
  const { message } = payloadOf(await reschedule());
  await eventually(async () => expect((await read(id)).status).not.toBe('SCHEDULED'));
  expect(payloadOf(await reschedule()).message).toEqual(message);
});

test('a scheduled message answers and is the last one when its time comes, not when it is scheduled', async () => {
  const phone = newPhone();
  const { phoneNumberId } = tenant;
  const writes = (text: string) => gateway.emulator.inbound({ from: phone, text, phoneNumberId });
  const thread = async () =>
    dataOf(
      await gateway.graphql(
        '{ conversations { nodes { waitingSince lastActivityAt lastMessage { databaseId text } } } }',
        {},
        tenant.token,
      ),
    ).conversations.nodes[0];
  writes('Where is it?');
  await eventually(async () => expect(await thread()).toMatchObject({ waitingSince: expect.any(String) }));
  const { databaseId: id } = await sent(phone, { instant: ahead(HOUR) });
  writes('Hello?');
  await eventually(async () => expect(await thread()).toMatchObject({ lastMessage: { text: 'Hello?' } }));
  const waiting = await thread();
  expect(waiting.waitingSince).not.toBeNull();
  await come();
  await eventually(async () =>
    expect(await thread()).toMatchObject({ waitingSince: null, lastMessage: { databaseId: id } }),
  );
  const { lastActivityAt } = await thread();
  expect(Date.parse(lastActivityAt)).toBeGreaterThanOrEqual(Date.parse(waiting.lastActivityAt));
});

test('a message that is cancelled while it is released is either sent or cancelled, and never both', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => sent(newPhone(), { instant: ahead(HOUR) })));
  const ids: string[] = made.map(({ databaseId }) => databaseId);
  await come();
  const answers = await Promise.all([
    ...ids.map(async id => gateway.mutate('cancelMessage', { id }, 'message { status }', tenant.token)),
    releaseScheduled(gateway.gateway.resources),
    releaseScheduled(beside.resources),
  ]);
  for (const [index, id] of ids.entries()) {
    const isCancelled = codeOf(answers[index] as Awaited<ReturnType<typeof gateway.mutate>>) === undefined;
    await eventually(async () =>
      expect((await read(id)).status).toMatch(isCancelled ? /^CANCELLED$/ : /^(SENT|DELIVERED|READ)$/),
    );
    const told = (await types(id)).filter(type => type === 'message.cancelled' || type === 'message.sent');
    expect(told).toEqual([isCancelled ? 'message.cancelled' : 'message.sent']);
  }
  const cancelled = answers
    .filter((_, index) => index < ids.length)
    .filter(answer => codeOf(answer as never) === undefined);
  expect(await used()).toBeGreaterThanOrEqual(ids.length - cancelled.length);
});

test('opt-out, window and plan are checked again when the time comes', async () => {
  tenant = await gateway.addTenant({ plan: 'three messages' });
  const seed = seedOf(gateway, tenant);
  const out = await seed.contact();
  const optedOut = await sent(out.phone, { instant: ahead(HOUR) });
  const closed = await sent(newPhone(), { instant: ahead(2 * HOUR) }, { requireOpenWindow: true });
  const fitting = [
    await sent(newPhone(), { instant: ahead(3 * HOUR) }),
    await sent(newPhone(), { instant: ahead(4 * HOUR) }),
  ];
  const beyond = await sent(newPhone(), { instant: ahead(5 * HOUR) });
  dataOf(await gateway.mutate('updateContact', { id: out.globalId, isOptedOut: true }, 'contact { id }', tenant.token));
  await gateway.database.query(
    `update outbox set due_at = due_at - interval '6 hours' where tenant_id = $1 and priority = 4`,
    [tenant.id],
  );
  await eventually(async () => {
    expect(await read(optedOut.databaseId)).toMatchObject({ status: 'FAILED', error: { title: 'Contact opted out' } });
    expect(await read(closed.databaseId)).toMatchObject({
      status: 'FAILED',
      error: { title: 'Service window closed' },
    });
    expect(await read(beyond.databaseId)).toMatchObject({ status: 'FAILED', error: { title: 'Plan used up' } });
    for (const { databaseId } of fitting) expect((await read(databaseId)).status).toMatch(/SENT|DELIVERED|READ/);
  });
  expect(await used()).toBe(3);
});

test('several processes release each message once', async () => {
  const messages = Array.from({ length: 60 }, () => ({
    to: { phone: newPhone() },
    content: { text: { body: 'Later' } },
    scheduledAt: { instant: ahead(HOUR) },
  }));
  const { summary } = dataOf(
    await gateway.mutate('sendMessages', { messages }, 'summary { succeeded }', tenant.token),
  ).sendMessages;
  expect(summary.succeeded).toBe(60);
  await come();
  await Promise.all(
    [gateway.gateway, beside, gateway.gateway, beside].map(({ resources }) => releaseScheduled(resources)),
  );
  await eventually(async () => {
    const rows = await gateway.database.query(
      `select message_id from message_states where tenant_id = $1 and status in ('sent', 'delivered', 'read')`,
      [tenant.id],
    );
    expect(rows).toHaveLength(60);
  });
  expect(await used()).toBe(60);
  expect(gateway.emulator.sent({ limit: 0 }).duplicates).toBe(0);
});

test('a time that has passed, is too far ahead or malformed is a fault of the field', async () => {
  for (const at of [
    { instant: ahead(-HOUR) },
    { instant: ahead(400 * 24 * HOUR) },
    { recipientLocalTime: 'tomorrow' },
  ]) {
    const answer = await send(newPhone(), at);
    expect(answer.data.sendMessage.userErrors[0].path.slice(0, 1)).toEqual(['scheduledAt']);
  }
});

test('version 1 of REST schedules messages too, and refuses it for a code that it generates', async () => {
  const headers = { authorization: `Bearer ${tenant.token}` };
  const post = (path: string, body: object) =>
    gateway.rest('POST', `/messages/${path}`, { phone_number: newPhone(), ...body }, headers, {
      version: 'v1',
      tenant: tenant.slug,
    });
  const later = ahead(HOUR);
  const media = { media_type: 'image', media_url: 'https://example.com/photo.jpg' };
  const bodies = { send: { message_body: 'Later' }, media };
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await post(path, { ...body, scheduled_at: later });
    expect((await answer.json()).data).toMatchObject({ status: 'queued', message_id: null, sent_at: null });
  }
  const list = await gateway.graphql('{ messages { nodes { status scheduledAt } } }', {}, tenant.token);
  expect(dataOf(list).messages.nodes).toEqual(Array(2).fill({ status: 'SCHEDULED', scheduledAt: later }));
  const code = { template_name: 'login_code', template_language: 'en', auto_generate_otp: 1, scheduled_at: later };
  expect((await (await post('template', code)).json()).errors).toHaveProperty('scheduled_at');
});

test('REST shows a scheduled message as queued, and a cancelled one as failed', async () => {
  const headers = { authorization: `Bearer ${tenant.token}` };
  const answer = await gateway.rest(
    'POST',
    '/messages/text',
    { phone: newPhone(), message: 'Later', scheduled_at: ahead(HOUR) },
    headers,
  );
  expect(answer.status).toBe(200);
  const { data } = await answer.json();
  expect(data).toMatchObject({ status: 'queued', message_id: null });
  const queued = async (status: string) =>
    (await (await gateway.rest('GET', `/messages?filter[status]=${status}`, undefined, headers)).json()).data.map(
      (row: { id: string; status: string }) => [row.id, row.status],
    );
  expect(await queued('queued')).toEqual([[data.chat_message_id, 'queued']]);
  dataOf(await gateway.mutate('cancelMessage', { id: data.chat_message_id }, 'message { id }', tenant.token));
  expect(await queued('queued')).toEqual([]);
  expect(await queued('failed')).toEqual([[data.chat_message_id, 'failed']]);
  const wrong = await gateway.rest(
    'POST',
    '/messages/text',
    { phone: newPhone(), message: 'Later', scheduled_at: 'soon' },
    headers,
  );
  expect((await wrong.json()).error.details).toHaveProperty('scheduled_at');
});

test("a recipient's local time is that of the contact, else of the country of the number, in all of its zones", () => {
  const now = Date.parse('2026-06-01T00:00:00Z');
  const at = (phone: string | null, local = '2026-07-01T09:00', timeZone: string | null = null) =>
    scheduledInstant({ recipientLocalTime: local }, { timeZone, phone, userId: null }, now);
  expect(at('+4915112345678')).toBe('2026-07-01T07:00:00.000Z');
  expect(at('+4915112345678', '2026-12-01T09:00')).toBe('2026-12-01T08:00:00.000Z');
  expect(at('+919812345678')).toBe('2026-07-01T03:30:00.000Z');
  // The last zone of the United States, Hawaii or the Aleutians.
  expect(Date.parse(at('+12025550123'))).toBeGreaterThanOrEqual(Date.parse('2026-07-01T19:00:00Z'));
  expect(at(null)).toBe('2026-07-01T09:00:00.000Z');
  expect(at('+12025550123', '2026-07-01T09:00', 'America/New_York')).toBe('2026-07-01T13:00:00.000Z');
  expect(at('+4915112345678', '2026-12-01T09:00', 'Asia/Tokyo')).toBe('2026-12-01T00:00:00.000Z');
  expect(at(null, '2026-07-01T09:00', 'Asia/Tokyo')).toBe('2026-07-01T00:00:00.000Z');
  // A zone that this process does not know counts as none.
  expect(at('+4915112345678', '2026-07-01T09:00', 'Moon/Tranquility')).toBe('2026-07-01T07:00:00.000Z');
});

test('a local time on a day that does not exist is none, instead of one on the day after', () => {
  const place = { timeZone: null, phone: null, userId: null };
  for (const recipientLocalTime of ['2027-02-30T10:00', '2027-04-31T10:00', '2027-02-29T10:00'])
    expect(() => scheduledInstant({ recipientLocalTime }, place, Date.parse('2027-01-01'))).toThrow('Must be a time');
  expect(scheduledInstant({ recipientLocalTime: '2027-02-28T10:00' }, place, Date.parse('2027-01-01'))).toBe(
    '2027-02-28T10:00:00.000Z',
  );
});
