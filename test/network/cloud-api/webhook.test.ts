import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesOf } from '../../../src/network/cloud-api/webhook/changes.ts';
import { readWebhook } from '../../../src/network/cloud-api/webhook.ts';
import type { NetworkUpdate } from '../../../src/network/updates.ts';
import { costOf } from '../../support/durations.ts';
import { ARRIVED_AT, parseWebhook } from '../parse.ts';

type Value = Record<string, unknown>;

const metadata = { display_phone_number: '15550783881', phone_number_id: '106' };
const envelope = (...values: Value[]) => ({
  object: 'whatsapp_business_account',
  entry: [
    {
      id: '419',
      changes: values.map(value => ({
        field: 'messages',
        value: { messaging_product: 'whatsapp', metadata, ...value },
      })),
    },
  ],
});
const contact = { profile: { name: 'Sheena' }, wa_id: '16505551234', user_id: 'US.1' };
const message = (fields: Value) => ({ from: '16505551234', id: 'wamid.A', timestamp: '1749416383', ...fields });
const status = (fields: Value = {}) => ({
  id: 'wamid.A',
  status: 'sent',
  timestamp: '1750000000',
  recipient_id: '16505551234',
  ...fields,
});

function only<K extends NetworkUpdate['kind']>(kind: K, body: unknown): NetworkUpdate & { kind: K } {
  const updates = parseWebhook(body);
  expect(updates).toHaveLength(1);
  const update = updates[0];
  if (update?.kind !== kind) throw new Error(`not a ${kind}`);
  return update as NetworkUpdate & { kind: K };
}

describe('the readable text', () => {
  test.each([
    ['text', { text: { body: 'Does it come in blue?' } }, 'Does it come in blue?'],
    ['image', { image: { caption: 'Taj Mahal', id: '1' } }, 'Taj Mahal'],
    ['video', { video: { caption: 'Clip' } }, 'Clip'],
    ['document', { document: { caption: 'Bill', filename: 'bill.pdf' } }, 'Bill'],
    ['audio', { audio: { id: '1', voice: true } }, undefined],
    ['button', { button: { payload: 'STOP', text: 'Unsubscribe' } }, 'Unsubscribe'],
    ['interactive', { interactive: { type: 'button_reply', button_reply: { id: 'b', title: 'Cancel' } } }, 'Cancel'],
    ['interactive', { interactive: { type: 'list_reply', list_reply: { id: 'l', title: 'Express' } } }, 'Express'],
    ['reaction', { reaction: { message_id: 'wamid.B', emoji: '👍' } }, '👍'],
    ['reaction', { reaction: { message_id: 'wamid.B' } }, undefined],
    ['location', { location: { latitude: 1, longitude: 2, name: 'Café', address: 'Street 1' } }, 'Café'],
    ['location', { location: { latitude: 1.5, longitude: 2 } }, '1.5, 2'],
    [
      'contacts',
      { contacts: [{ name: { formatted_name: 'Lucía Gómez' } }, { name: { first_name: 'Ana' } }] },
      'Lucía Gómez, Ana',
    ],
    ['order', { order: { catalog_id: '1', text: '', product_items: [] } }, undefined],
    ['system', { system: { body: 'User changed', type: 'user_changed_number' } }, 'User changed'],
  ])('of %s: %o', (type, fields, expected) => {
    expect(only('message', envelope({ contacts: [contact], messages: [message({ type, ...fields })] })).text).toBe(
      expected,
    );
  });
});

describe('an inbound message', () => {
  test('yields all its fields', () => {
    const body = envelope({
      contacts: [contact],
      messages: [message({ type: 'text', text: { body: 'Hi' }, context: { id: 'wamid.Q' } })],
    });
    expect(only('message', body)).toEqual({
      kind: 'message',
      phoneNumberId: '106',
      wamid: 'wamid.A',
      from: '16505551234',
      userId: 'US.1',
      profileName: 'Sheena',
      at: new Date(1_749_416_383_000),
      type: 'text',
      text: 'Hi',
      replyTo: 'wamid.Q',
      content: { body: 'Hi' },
      error: undefined,
    });
  });

  test('of a person without a number is identified by the user id', () => {
    const { from: _none, ...rest } = message({ type: 'text', text: { body: 'Hi' }, from_user_id: 'BR.9' });
    const update = only(
      'message',
      envelope({ contacts: [{ user_id: 'BR.9', profile: { name: 'Bia' } }], messages: [rest] }),
    );
    expect(update).toMatchObject({ from: undefined, userId: 'BR.9', profileName: 'Bia' });
  });

  test('of type reaction refers to the message that it reacts to', () => {
    const update = only(
      'message',
      envelope({ messages: [message({ type: 'reaction', reaction: { message_id: 'wamid.R', emoji: '🙏' } })] }),
    );
    expect(update.replyTo).toBe('wamid.R');
  });

  test('of an unsupported type contains the network’s error', () => {
    const errors = [
      {
        code: 131051,
        title: 'Message type unknown',
        error_data: { details: 'Message type is currently not supported.' },
      },
    ];
    const update = only('message', envelope({ messages: [message({ type: 'unsupported', errors })] }));
    expect(update).toMatchObject({
      type: 'unsupported',
      text: undefined,
      content: {},
      error: { code: 131051, title: 'Message type unknown' },
    });
  });

  test('of an unknown type keeps its object', () => {
    expect(
      only('message', envelope({ messages: [message({ type: 'hologram', hologram: { id: 7 } })] })).content,
    ).toEqual({ id: 7 });
  });

  test('gets the profile name of its own sender in a batch', () => {
    const others = { contacts: [contact, { profile: { name: 'Bo' }, wa_id: '49151' }] };
    const body = envelope({
      ...others,
      messages: [message({ id: 'wamid.1', from: '49151', type: 'text' }), message({ id: 'wamid.2', from: '331' })],
    });
    expect(parseWebhook(body).map(update => update.kind === 'message' && update.profileName)).toEqual([
      'Bo',
      undefined,
    ]);
    const single = envelope({ contacts: [contact], messages: [message({ from: '49151', type: 'text' })] });
    expect(only('message', single).profileName).toBeUndefined();
  });

  test.each([['1749416383'], [1_749_416_383], [1_749_416_383_000]])(
    'has the same time for the timestamp %o',
    timestamp => {
      expect(only('message', envelope({ messages: [message({ timestamp })] })).at).toEqual(new Date(1_749_416_383_000));
    },
  );
});

describe('a status', () => {
  test('yields our id and the recipient', () => {
    const body = envelope({ contacts: [contact], statuses: [status({ biz_opaque_callback_data: 'm1' })] });
    expect(only('status', body)).toEqual({
      kind: 'status',
      phoneNumberId: '106',
      wamid: 'wamid.A',
      callbackData: 'm1',
      status: 'sent',
      at: new Date(1_750_000_000_000),
      recipientId: '16505551234',
      userId: 'US.1',
      error: undefined,
    });
  });

  test('of a failed message keeps code, title and details', () => {
    const errors = [
      { code: 131026, title: 'Message undeliverable', error_data: { details: 'Message undeliverable.' } },
    ];
    expect(only('status', envelope({ statuses: [status({ status: 'failed', errors })] })).error).toEqual({
      code: 131026,
      title: 'Message undeliverable',
      details: 'Message undeliverable.',
      retryClass: 'no_retry',
    });
  });

  test('without a recipient number yields the user id if present', () => {
    const { recipient_id: _none, ...rest } = status({ recipient_user_id: 'BR.9' });
    expect(only('status', envelope({ statuses: [rest] }))).toMatchObject({ recipientId: undefined, userId: 'BR.9' });
  });

  test('of a group yields the participant', () => {
    const fields = {
      recipient_type: 'group',
      recipient_id: 'Y2FwaV9ncm91cDox',
      recipient_participant_id: '4915112345',
    };
    expect(only('status', envelope({ statuses: [status(fields)] })).recipientId).toBe('4915112345');
  });

  test('`played` counts as read, and unknown statuses are unhandled', () => {
    const words = ['played', 'deleted', 'warning', 7, null];
    const updates = parseWebhook(envelope({ statuses: words.map(word => status({ status: word })) }));
    expect(updates[0]).toMatchObject({ kind: 'status', status: 'read' });
    expect(updates.slice(1)).toEqual(
      words.slice(1).map(word => ({
        kind: 'unhandled',
        field: 'messages',
        reason: 'unreadable',
        raw: envelope({ statuses: [status({ status: word })] }).entry[0],
      })),
    );
  });

  test('of a payment is unhandled', () => {
    const payment = status({ type: 'payment', status: 'captured', payment: { reference_id: 'r' } });
    expect(only('unhandled', envelope({ statuses: [payment] }))).toMatchObject({ reason: 'unreadable' });
  });

  test('yields the pricing, even within `conversation`', () => {
    const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'marketing' };
    const price = { model: 'PMP', type: 'regular', category: 'marketing', isBillable: true };
    expect(only('status', envelope({ statuses: [status({ pricing })] })).pricing).toEqual(price);
    expect(only('status', envelope({ statuses: [status({ conversation: { pricing } })] })).pricing).toEqual(price);
    expect(only('status', envelope({ statuses: [status()] })).pricing).toBeUndefined();
  });
});

describe('a batch', () => {
  test('with several entries and changes is read completely and in order', () => {
    const first = envelope({ statuses: [status({ id: 'wamid.1' })] }, { messages: [message({ id: 'wamid.2' })] });
    const second = envelope({ statuses: [status({ id: 'wamid.3' }), status({ id: 'wamid.3' })] });
    const body = { ...first, entry: [...first.entry, ...second.entry] };
    expect(parseWebhook(body).map(u => 'wamid' in u && u.wamid)).toEqual(['wamid.1', 'wamid.2', 'wamid.3', 'wamid.3']);
  });

  test('yields its readable parts, and unreadable ones as unhandled', () => {
    const good = envelope({
      statuses: [null, status({ id: 5 }), 'x', status({ timestamp: 'soon' }), status({ id: 'wamid.good' })],
    });
    const entry = [
      null,
      7,
      { id: '1' },
      { id: '1', changes: 'none' },
      { id: '1', changes: [null, { field: 'messages' }, { field: 'messages', value: {} }] },
      ...good.entry,
    ];
    const updates = parseWebhook({ entry });
    expect(updates.flatMap(u => (u.kind === 'status' ? [u.wamid] : []))).toEqual(['wamid.A', 'wamid.good']);
    expect(updates.filter(u => u.kind === 'unhandled')).toHaveLength(10);
  });

  test('of 1,000 statuses is read within milliseconds', async () => {
    const body = envelope({
      contacts: Array.from({ length: 1_000 }, (_, i) => ({ wa_id: String(i), user_id: `US.${i}` })),
      statuses: Array.from({ length: 1_000 }, (_, i) => status({ id: `wamid.${i}`, recipient_id: String(i) })),
    });
    parseWebhook(body);
    expect(await costOf(() => expect(parseWebhook(body)).toHaveLength(1_000))).toBeLessThan(50);
  });
});

test('an unknown field is unhandled and keeps its account', () => {
  const value = { event: 'CHANGED' };
  const entry = { id: '419', time: 1, changes: [{ field: 'novelty', value }] };
  expect(parseWebhook({ entry: [entry] })).toEqual([
    { kind: 'unhandled', field: 'novelty', reason: 'unknown_field', raw: entry },
  ]);
});

test('errors of the account are yielded in addition to message updates', () => {
  const updates = parseWebhook(envelope({ errors: [{ code: 131031 }], statuses: [status()] }));
  expect(updates).toMatchObject([{ kind: 'health', patch: { lastError: { code: 131031 } } }, { kind: 'status' }]);
});

test('an unreadable timestamp is replaced by the time of arrival, and marked', () => {
  const updates = parseWebhook(
    envelope({ statuses: [status({ timestamp: 'soon' })], messages: [message({ timestamp: null })] }),
  );
  for (const update of updates) expect(update).toMatchObject({ at: ARRIVED_AT, isTimeEstimated: true });
  expect(updates).toHaveLength(2);
});

/** Webhooks whose parts are each either valid or arbitrary JSON. */
const anything = fc.jsonValue({ maxDepth: 3 });
const broken = <T>(part: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: part }, { weight: 1, arbitrary: anything });
const anyContact = broken(
  fc.record({
    wa_id: broken(fc.string()),
    user_id: broken(fc.string()),
    profile: broken(fc.record({ name: anything })),
  }),
);
const anyStatus = broken(
  fc.record({
    id: broken(fc.string()),
    status: broken(fc.constantFrom('sent', 'delivered', 'read', 'failed', 'played')),
    timestamp: broken(fc.nat()),
    errors: broken(fc.array(broken(fc.record({ code: anything, title: anything, error_data: anything })))),
    recipient_id: anything,
  }),
);
const types = [
  'text',
  'image',
  'interactive',
  'reaction',
  'location',
  'contacts',
  'order',
  'system',
  'unsupported',
  'id',
  '__proto__',
  'constructor',
];
const anyMessage = broken(
  fc
    .tuple(fc.constantFrom(...types), broken(fc.string()), broken(fc.nat()), anything)
    .map(([type, id, timestamp, content]) => ({
      id,
      timestamp,
      type,
      [type]: content,
      context: content,
      from: content,
    })),
);
const anyChange = broken(
  fc.record({
    field: broken(fc.constantFrom('messages', 'account_update')),
    value: broken(
      fc.record({
        metadata: broken(fc.record({ phone_number_id: broken(fc.string()) })),
        contacts: broken(fc.array(anyContact, { maxLength: 3 })),
        statuses: broken(fc.array(anyStatus, { maxLength: 4 })),
        messages: broken(fc.array(anyMessage, { maxLength: 4 })),
        errors: anything,
      }),
    ),
  }),
);
const anyWebhook = broken(
  fc.record({
    entry: broken(
      fc.array(broken(fc.record({ id: anything, changes: broken(fc.array(anyChange, { maxLength: 3 })) })), {
        maxLength: 3,
      }),
    ),
  }),
);

test('arbitrary JSON never makes readWebhook throw, and each change yields well-formed updates', () => {
  fc.assert(
    fc.property(anyWebhook, body => {
      for (const { updates } of changesRead(body)) {
        expect(updates.length).toBeGreaterThan(0);
        for (const update of updates) {
          if ('wamid' in update) expect(update.wamid).not.toBe('');
          if ('phoneNumberId' in update) expect(update.phoneNumberId).not.toBe('');
          if ('at' in update) expect(Number.isNaN(update.at.getTime())).toBe(false);
        }
      }
    }),
    { numRuns: 500 },
  );
});

/** The number of changes and malformed parts of a body. */
function changesRead(body: unknown) {
  const read = readWebhook(body, ARRIVED_AT);
  expect(read).toHaveLength(changesOf(body).length);
  return read;
}
