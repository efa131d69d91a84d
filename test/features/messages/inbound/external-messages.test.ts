import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeExternalMessages } from '../../../../src/features/messages/inbound/external-messages.ts';
import { dataOf } from '../../../support/answers.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type Harness, harnessFor } from './harness.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const PERSON = '14155550101';
const at = Math.floor(Date.now() / 1_000);
const text = (body: string) => ({ type: 'text', text: { body } });
const shown = async (harness: Harness) =>
  (await harness.messages()).map(({ direction, type, status, body }) => [direction, type, status, body]);
const windowsOf = (harness: Harness) =>
  harness.query('select window_expires_at, counted_month from conversations where tenant_id = $1');
const used = async (harness: Harness) =>
  (
    await harness.query<{ used: number }>(
      'select coalesce(sum(messages + conversations), 0)::int as used from monthly_usage where tenant_id = $1',
    )
  )[0]?.used;

describe('messages sent in the phone app', () => {
  const echo = (id: string, more: object) => ({ from: '15550780000', to: PERSON, id, timestamp: String(at), ...more });

  test('are outbound messages with message.sent once; they do not count for the plan or open a window', async () => {
    const harness = await harnessFor(gateway);
    for (let time = 0; time < 2; time += 1)
      await harness.tell('smb_message_echoes', {
        message_echoes: [echo('wamid.1', text('From my phone'))],
        rebuild: time,
      });
    expect(await shown(harness)).toEqual([['outbound', 'text', 'sent', 'From my phone']]);
    expect(await harness.events('message.sent')).toMatchObject([
      { message: { message_id: 'wamid.1', status: 'sent' }, details: { origin: 'phone_app' } },
    ]);
    const [sent] = dataOf(
      await gateway.graphql(
        '{ messages { nodes { sentBy { kind displayName actor { id } } } } }',
        {},
        harness.tenant.token,
      ),
    ).messages.nodes;
    expect(sent.sentBy).toEqual({ kind: 'PHONE_APP', displayName: 'WhatsApp Business app', actor: null });
    expect(await windowsOf(harness)).toEqual([{ window_expires_at: null, counted_month: null }]);
    expect(await used(harness)).toBe(0);
  });

  test('get statuses, edits and revocations', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('smb_message_echoes', { message_echoes: [echo('wamid.1', text('Helo'))] });
    await harness.tell('messages', { statuses: [{ id: 'wamid.1', status: 'delivered', timestamp: String(at + 1) }] });
    const edit = { original_message_id: 'wamid.1', message: text('Hello') };
    await harness.tell('smb_message_echoes', {
      message_echoes: [
        echo('wamid.2', { type: 'edit', edit }),
        echo('wamid.3', { type: 'revoke', revoke: { original_message_id: 'wamid.1' } }),
      ],
    });
    expect(await shown(harness)).toEqual([['outbound', 'text', 'delivered', 'Hello']]);
    expect(await harness.events('message.delivered')).toHaveLength(1);
    expect(await harness.events('message.revoked')).toHaveLength(1);
    const statistics = await harness.query(
      `select status, sum(messages)::int as messages from (
         select tenant_id, status, messages from message_statistics union all select tenant_id, status, messages from message_statistics_pending
       ) t where tenant_id = $1 group by 1 having sum(messages) <> 0`,
    );
    expect(statistics).toEqual([{ status: 'delivered', messages: 1 }]);
  });
});

describe('the history of a number', () => {
  const chunk = (metadata: object, messages: object[]) => ({
    history: [{ metadata, threads: [{ id: PERSON, context: { wa_id: PERSON }, messages }] }],
  });
  const YEAR = 365 * 86_400;
  const past = (id: string, seconds: number, more: object) => ({ id, timestamp: String(at - YEAR + seconds), ...more });

  test('is stored in the order of writing for any order of chunks, without events, counts or windows', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell(
      'history',
      chunk({ phase: 1, chunk_order: 2, progress: 100 }, [
        past('wamid.3', 30, { from: '15550780000', to: PERSON, ...text('Third'), history_context: { status: 'READ' } }),
      ]),
    );
    await harness.tell(
      'history',
      chunk({ phase: 0, chunk_order: 1, progress: 50 }, [
        past('wamid.1', 10, { from: PERSON, ...text('STOP') }),
        past('wamid.2', 20, {
          from: '15550780000',
          to: PERSON,
          type: 'media_placeholder',
          history_context: { status: 'DELIVERED' },
        }),
      ]),
    );
    expect(await shown(harness)).toEqual([
      ['inbound', 'text', 'received', 'STOP'],
      ['outbound', 'media_placeholder', 'delivered', null],
      ['outbound', 'text', 'read', 'Third'],
    ]);
    await harness.tell('history', {
      message_echoes: [
        past('wamid.2', 20, { from: '15550780000', to: PERSON, type: 'image', image: { id: '7', caption: 'Look' } }),
      ],
    });
    expect((await shown(harness))[1]).toEqual(['outbound', 'image', 'delivered', 'Look']);
    for (const type of ['message.received', 'message.sent', 'contact.opted_out'])
      expect(await harness.events(type)).toEqual([]);
    expect(await windowsOf(harness)).toEqual([{ window_expires_at: null, counted_month: null }]);
    // An inbox lists the conversation where it belongs, not first.
    expect(await harness.query('select last_activity_at as at from conversations where tenant_id = $1')).toEqual([
      { at: new Date((at - YEAR + 30) * 1_000) },
    ]);
    expect(await used(harness)).toBe(0);
    expect(await harness.query('select 1 from network_changes where tenant_id = $1')).toEqual([]);
  });

  test('shows reactions on their messages, without events and with the latest of each person', async () => {
    const harness = await harnessFor(gateway);
    const reacts = (id: string, seconds: number, emoji: string, from = PERSON) =>
      past(id, seconds, {
        from,
        ...(from !== PERSON && { to: PERSON }),
        type: 'reaction',
        reaction: { message_id: 'wamid.1', emoji },
      });
    const live = { ...reacts('wamid.6', YEAR, '🎉'), timestamp: String(at) };
    await harness.tell('messages', { contacts: [{ wa_id: PERSON }], messages: [live] });
    await harness.tell(
      'history',
      chunk({ phase: 0 }, [
        past('wamid.1', 10, { from: PERSON, ...text('Hello') }),
        reacts('wamid.3', 30, '👍', '15550780000'),
        reacts('wamid.2', 20, '😮', '15550780000'),
        reacts('wamid.4', 40, '❤️'),
      ]),
    );
    const { nodes } = dataOf(
      await gateway.graphql(
        '{ messages(filter: { type: { eq: TEXT } }) { nodes { reactions { emoji direction } } } }',
        {},
        harness.tenant.token,
      ),
    ).messages;
    expect(nodes[0].reactions).toEqual([
      { emoji: '👍', direction: 'OUTBOUND' },
      { emoji: '🎉', direction: 'INBOUND' },
    ]);
    expect(await harness.events('message.reaction')).toEqual([]);
  });

  test('that the business does not share is reported as channel health', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('history', {
      history: [{ errors: [{ code: 2_593_109, title: 'History sync is turned off' }] }],
    });
    expect(
      await harness.query(
        `select payload->'health'->'last_error'->'code' as code from events where tenant_id = $1 and type = 'channel.health_changed'`,
      ),
    ).toEqual([{ code: 2_593_109 }]);
  });
});

describe('calls', () => {
  const call = (event: string, more: object = {}) => ({
    calls: [{ id: 'wacid.1', event, direction: 'USER_INITIATED', from: PERSON, timestamp: String(at), ...more }],
  });

  test('of a person are one message that opens the window, only moves forward, and is not answered by bots', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('calls', call('connect', { session: { sdp_type: 'offer', sdp: 'v=0 secret' } }));
    await harness.tell('calls', call('terminate', { status: 'Completed', duration: 42 }));
    await harness.tell('calls', { ...call('connect'), rebuild: true });
    const [entry, ...others] = await harness.messages();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      type: 'call',
      direction: 'inbound',
      content: { direction: 'inbound', event: 'terminate', outcome: 'completed', duration_seconds: 42 },
    });
    expect((await windowsOf(harness))[0]?.['window_expires_at']).not.toBeNull();
    expect(await harness.events('message.received')).toMatchObject([{ is_answerable: false }]);
    expect(await harness.events('message.edited')).toMatchObject([{ previous: { content: { event: 'connect' } } }]);
  });

  test('of the business are messages that open no window', async () => {
    const harness = await harnessFor(gateway);
    await harness.tell('calls', {
      statuses: [{ id: 'wacid.2', type: 'call', status: 'RINGING', timestamp: String(at), recipient_id: PERSON }],
    });
    expect(await shown(harness)).toEqual([['outbound', 'call', 'sent', null]]);
    expect(await windowsOf(harness)).toEqual([{ window_expires_at: null, counted_month: null }]);
    expect(await harness.events('message.sent')).toHaveLength(1);
  });

  test('of the business that the person rejects have that outcome', async () => {
    const harness = await harnessFor(gateway);
    for (const status of ['RINGING', 'REJECTED'])
      await harness.tell('calls', {
        statuses: [{ id: 'wacid.3', type: 'call', status, timestamp: String(at), recipient_id: PERSON }],
      });
    expect((await harness.messages())[0]?.content).toMatchObject({ event: 'rejected', outcome: 'rejected' });
  });
});

test('two numbers of an account that write to each other keep their messages apart', async () => {
  const { tenant, query, events } = await harnessFor(gateway);
  const [other] = await query<{ id: string }>(
    `insert into channels (tenant_id, name, phone_number_id, waba_id, display_phone_number, access_token_sealed, app_secret_sealed, verify_token_hash)
     select tenant_id, 'other', 'p' || phone_number_id, waba_id, 'x', access_token_sealed, app_secret_sealed, 'x'::bytea
     from channels where tenant_id = $1 returning id`,
  );
  const [channel] = await query<{ id: string }>('select id from channels where tenant_id = $1 and is_default');
  const [person] = await query<{ id: string }>(
    `insert into contacts (tenant_id, firstname, lastname, phone, phone_key)
     values ($1, 'Ann', 'Lee', '+${PERSON}', '${PERSON}') returning id`,
  );
  const unknown = { from: undefined, userId: undefined, profileName: undefined, replyTo: undefined, error: undefined };
  const sameId = {
    ...unknown,
    phoneNumberId: '1',
    wamid: 'wamid.1',
    at: new Date(),
    type: 'text',
    text: 'Hello',
    content: {},
  };
  const waId = { waId: PERSON, userId: undefined, parentUserId: undefined };
  const echo = { ...sameId, kind: 'echo', origin: 'phone_app', to: waId } as const;
  const past = {
    ...sameId,
    kind: 'past_message',
    direction: 'inbound',
    person: waId,
    isUserIdOfThread: false,
    status: undefined,
  } as const;
  const thread = { contactId: Number(person?.id), arrivedMs: Date.now() };
  await gateway.gateway.resources.db.transaction(trx =>
    storeExternalMessages(
      trx,
      tenant.id,
      [
        { ...thread, channelId: Number(channel?.id), update: echo },
        { ...thread, channelId: Number(other?.id), update: past },
      ],
      Date.now(),
    ),
  );
  expect(await events('message.sent')).toMatchObject([{ details: { origin: 'phone_app' } }]);
});
