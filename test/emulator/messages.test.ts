import { describe, expect, test } from 'vitest';
import { toWaId } from '../../src/emulator/wa-id.ts';
import { CHANNEL, eventually, NUMBER, PERSON, startNetwork, text } from '../network/network.ts';

const MESSAGES = `${NUMBER.phoneNumberId}/messages`;
const to = (fields: object) => ({ messaging_product: 'whatsapp', to: PERSON, ...fields });

describe('a message is rejected immediately', () => {
  test.each([
    ['of an unknown type', to({ type: 'hologram', hologram: {} }), 131051],
    ['without the object of its type', to({ type: 'text' }), 131008],
    ['without a text', to({ type: 'text', text: {} }), 100],
    ['with a text that is too long', to({ type: 'text', text: { body: 'x'.repeat(4_097) } }), 100],
    ['without a recipient', { messaging_product: 'whatsapp', type: 'text', text: { body: 'x' } }, 100],
    ['without messaging_product', { to: PERSON, type: 'text', text: { body: 'x' } }, 100],
    ['to something that is not a number', { ...to({ type: 'text', text: { body: 'x' } }), to: '+nobody' }, 131009],
    ['to its own sender', { ...to({ type: 'text', text: { body: 'x' } }), to: '+1 555 078 3881' }, 131021],
    ['with an unknown medium', to({ type: 'image', image: { id: '1' } }), 100],
    ['with a medium and a link', to({ type: 'image', image: { id: '1', link: 'https://a.b/c.png' } }), 100],
    ['with four buttons', to({ type: 'interactive', interactive: buttons(4) }), 131009],
    ['with a button title of 21 characters', to({ type: 'interactive', interactive: buttons(1, 'x'.repeat(21)) }), 100],
    [
      'with callback data of 513 characters',
      to({ text: { body: 'x' }, biz_opaque_callback_data: 'x'.repeat(513) }),
      100,
    ],
    [
      'with a missing template',
      to({ type: 'template', template: { name: 'no_such', language: { code: 'en_US' } } }),
      132001,
    ],
    [
      'with a template in another language',
      to({ type: 'template', template: { name: 'hello_world', language: { code: 'pt_BR' } } }),
      132001,
    ],
  ])('%s', async (_what, body, code) => {
    const { graph, emulator } = await startNetwork();
    const answer = await graph('POST', MESSAGES, body);
    expect(answer.body.error).toMatchObject({ code, type: 'OAuthException' });
    expect(answer.status).toBe(400);
    expect(emulator.sent().total).toBe(0);
  });
});

describe('a message is accepted', () => {
  test.each([
    ['text without a type', { text: { body: 'Hi' } }, 'Hi'],
    ['text of 4,096 emoji', { type: 'text', text: { body: '🙂'.repeat(4_096) } }, '🙂'.repeat(4_096)],
    ['linked image', { type: 'image', image: { link: 'https://example.org/a.jpg', caption: 'A' } }, 'A'],
    ['location', { type: 'location', location: { latitude: 37.7, longitude: '-122.4', name: 'HQ' } }, 'HQ'],
    ['reaction', { type: 'reaction', reaction: { message_id: 'wamid.A', emoji: '😀' } }, '😀'],
    [
      'contacts',
      { type: 'contacts', contacts: [{ name: { formatted_name: 'John Smith', first_name: 'John' } }] },
      'John Smith',
    ],
    ['reply buttons', { type: 'interactive', interactive: buttons(3) }, 'Choose'],
    ['list', { type: 'interactive', interactive: list() }, 'Choose'],
    [
      'template',
      { type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } },
      expect.stringContaining('Welcome'),
    ],
  ])('of type %s', async (_what, fields, body) => {
    const { graph, emulator } = await startNetwork();
    const answer = await graph('POST', MESSAGES, to(fields));
    expect(answer.status).toBe(200);
    expect(answer.body.messages?.[0]?.id).toMatch(/^wamid\.[A-Za-z0-9+/]+=*$/);
    expect(emulator.sent().messages).toMatchObject([{ body }]);
  });

  test('to a number without a plus, and reaches another person, because the business’s country code is prepended', async () => {
    const { graph, emulator } = await startNetwork();
    const answer = await graph('POST', MESSAGES, { ...to({ text: { body: 'x' } }), to: 5_511_987_654_321 });
    expect(answer.body.contacts).toEqual([{ input: '5511987654321', wa_id: '15511987654321' }]);
    expect(emulator.sent().messages).toMatchObject([{ waId: '15511987654321' }]);
  });

  test('message_status is returned for templates and not for texts', async () => {
    const { graph } = await startNetwork();
    const template = await graph(
      'POST',
      MESSAGES,
      to({ type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } }),
    );
    const plain = await graph('POST', MESSAGES, to({ text: { body: 'x' } }));
    expect(template.body.messages?.[0]?.message_status).toBe('accepted');
    expect(plain.body.messages?.[0]).not.toHaveProperty('message_status');
  });
});

describe('the wa_id of a number', () => {
  test.each([
    ['5531987654321', '553187654321', 'Brazil, area 31: without the ninth digit'],
    ['5511987654321', '5511987654321', 'Brazil, area 11: with it'],
    ['553187654321', '553187654321', 'Brazil, already without it'],
    ['525512345678', '5215512345678', 'Mexico: with a 1'],
    ['5215512345678', '5215512345678', 'Mexico, already with it'],
    ['541123456789', '5491123456789', 'Argentina: with a 9'],
    ['14155550123', '14155550123', 'elsewhere: as it is'],
  ])('%s is %s (%s)', (digits, waId) => {
    expect(toWaId(digits)).toBe(waId);
  });
});

describe('the 24-hour window', () => {
  test('is closed until the person writes: a free-form message is accepted, then fails with 131047', async () => {
    const { network, receiver, emulator } = await startNetwork();
    expect((await network.send(CHANNEL, text('m1'))).kind).toBe('accepted');
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([
      {
        kind: 'status',
        status: 'failed',
        callbackData: 'm1',
        error: {
          code: 131047,
          details:
            'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
        },
      },
    ]);
  });

  test('opens when the person writes, for every spelling of the number', async () => {
    const { network, receiver, emulator } = await startNetwork();
    emulator.inbound({ from: '5531 98765-4321', text: 'Oi' });
    await network.send(CHANNEL, text('m1', 'Olá', '+55 31 98765 4321'));
    await emulator.settled();
    expect(receiver.statuses()).toEqual(['sent', 'delivered', 'read']);
  });

  test('closes 24 hours after the last message', async () => {
    let now = Date.UTC(2026, 10, 1);
    const { network, receiver, emulator } = await startNetwork({ clock: { now: () => now } });
    emulator.inbound({ from: PERSON, text: 'Hi' });
    now += 24 * 3_600_000 - 1;
    await network.send(CHANNEL, text('m1'));
    now += 1;
    await network.send(CHANNEL, text('m2'));
    await emulator.settled();
    const failed = receiver.updates().filter(u => u.kind === 'status' && u.status === 'failed');
    expect(failed).toMatchObject([{ callbackData: 'm2', error: { code: 131047 } }]);
  });

  test('is not needed for templates', async () => {
    const { graph, receiver, emulator } = await startNetwork();
    await graph(
      'POST',
      MESSAGES,
      to({ type: 'template', template: { name: 'hello_world', language: { code: 'en_US' } } }),
    );
    await emulator.settled();
    expect(receiver.statuses()).toEqual(['sent', 'delivered', 'read']);
  });
});

describe('limits', () => {
  test('a person gets a burst of 45 messages; the 46th is rejected with 131056 and HTTP 400', async () => {
    const { network, graph } = await startNetwork();
    const outcomes = await Promise.all(Array.from({ length: 45 }, (_, i) => network.send(CHANNEL, text(`m${i}`))));
    expect(outcomes.every(outcome => outcome.kind === 'accepted')).toBe(true);
    const answer = await graph('POST', MESSAGES, to({ text: { body: 'x' } }));
    expect(answer.status).toBe(400);
    expect(answer.body.error?.code).toBe(131056);
  });

  test('a burst is paid back: after 20 messages the next is accepted two minutes after the first', async () => {
    let now = Date.UTC(2026, 10, 1);
    const { network } = await startNetwork({ clock: { now: () => now } });
    const send = async () => (await network.send(CHANNEL, text('m'))).kind;
    for (let i = 0; i < 20; i++) expect(await send()).toBe('accepted');
    now += 119_999;
    expect(await send()).toBe('refused');
    now += 1;
    expect(await send()).toBe('accepted');
  });

  test('a number above its throughput is rejected with 130429 and HTTP 400', async () => {
    const now = Date.UTC(2026, 10, 1);
    const { network, graph } = await startNetwork({
      clock: { now: () => now },
      numbers: [{ ...NUMBER, messagesPerSecond: 3 }],
    });
    for (const i of [1, 2, 3])
      expect((await network.send(CHANNEL, text('m', 'x', `+141555501${i}0`))).kind).toBe('accepted');
    const answer = await graph('POST', MESSAGES, to({ text: { body: 'x' } }));
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 130429 } } });
  });
});

describe('failures reported by webhook', () => {
  test('asyncErrorCode accepts every message, then fails it', async () => {
    const { network, receiver, emulator } = await startNetwork({ faults: { asyncErrorCode: 131026 } });
    expect((await network.send(CHANNEL, text('m1'))).kind).toBe('accepted');
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([{ status: 'failed', error: { code: 131026, retryClass: 'no_retry' } }]);
  });

  test('a link to a page instead of an image fails with 131053', async () => {
    const { graph, receiver, emulator } = await startNetwork({ faults: { window: 'open' } });
    const answer = await graph(
      'POST',
      MESSAGES,
      to({ type: 'video', video: { link: 'https://example.org/page.html' } }),
    );
    expect(answer.status).toBe(200);
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([
      { error: { code: 131053, details: 'Unsupported Video mime type text/html' } },
    ]);
  });

  test('a fault for one number does not affect others', async () => {
    const { network, receiver, emulator } = await startNetwork({ faults: { window: 'open', readReceipts: false } });
    emulator.setFaults({ next: [{ asyncErrorCode: 131026, to: '+14155550199' }] });
    await network.send(CHANNEL, text('m1', 'x', '+14155550100'));
    await network.send(CHANNEL, text('m2', 'x', '+14155550199'));
    await emulator.settled();
    await eventually(() => receiver.statuses().length === 3, 'three statuses');
    expect(receiver.updates().filter(u => u.kind === 'status' && u.status === 'failed')).toMatchObject([
      { callbackData: 'm2' },
    ]);
  });
});

test('the response to a message to a user id contains the user id and no number', async () => {
  const { graph, emulator, receiver } = await startNetwork();
  emulator.inbound({ userId: 'BR.13491208655302741918', text: 'Oi' });
  const answer = await graph('POST', MESSAGES, {
    messaging_product: 'whatsapp',
    recipient: 'BR.13491208655302741918',
    text: { body: 'Olá' },
  });
  expect(answer.body.contacts).toEqual([{ input: 'BR.13491208655302741918', user_id: 'BR.13491208655302741918' }]);
  await emulator.settled();
  expect(receiver.updates().filter(u => u.kind === 'status')).toMatchObject([
    { status: 'sent', recipientId: undefined, userId: 'BR.13491208655302741918' },
    { status: 'delivered' },
    { status: 'read' },
  ]);
});

function buttons(count: number, title?: string) {
  const button = (_: unknown, i: number) => ({ type: 'reply', reply: { id: `b${i}`, title: title ?? `Title ${i}` } });
  return { type: 'button', body: { text: 'Choose' }, action: { buttons: Array.from({ length: count }, button) } };
}

function list() {
  const rows = Array.from({ length: 10 }, (_, i) => ({ id: `r${i}`, title: `Row ${i}`, description: 'd' }));
  return { type: 'list', body: { text: 'Choose' }, action: { button: 'Open', sections: [{ title: 'All', rows }] } };
}
