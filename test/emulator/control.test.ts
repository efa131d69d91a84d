import { describe, expect, test } from 'vitest';
import { CHANNEL, PERSON, startNetwork, text } from '../network/network.ts';

describe('the control API', () => {
  test('lists its routes', async () => {
    const { control } = await startNetwork();
    expect(Object.keys((await control('GET', '')).body['routes'] as object)).toContain('POST /_emulator/inbound');
    expect((await control('GET', 'nothing')).status).toBe(404);
  });

  test.each([
    ['inbound', { text: 'Hi' }, 'from: is required unless userId is given'],
    ['inbound', { from: PERSON }, 'text: '],
    ['inbound', { from: 'me', text: 'Hi' }, 'from: must be a phone number'],
    ['inbound', { from: PERSON, type: 'location', latitude: 100, longitude: 0 }, 'latitude: '],
    ['inbound', { from: PERSON, text: 'Hi', phoneNumberId: '9' }, 'phoneNumberId: there is no number 9'],
    ['faults', { next: [{ errorCode: 'many' }] }, 'next.0.errorCode: '],
    ['faults', { next: [{ count: 3 }] }, 'next.0: contains no fault'],
    ['faults', { latency: 5 }, 'latency'],
    ['windows', { phone: PERSON }, 'open: is required'],
    ['templates', { name: 'none', status: 'PAUSED' }, 'name: there is no such template'],
    ['templates', { name: 'hello_world', status: 'SLEEPING' }, 'status: '],
    ['webhook-url', { url: 'ftp://x' }, 'url: '],
  ])('rejects %s %o with an error that names the field', async (path, body, sentence) => {
    const { control } = await startNetwork();
    const answer = await control('POST', path, body);
    expect(answer.status).toBe(400);
    expect(answer.body['error']).toContain(sentence);
  });
});

describe('POST inbound', () => {
  test.each([
    [{ type: 'button', text: 'Yes', payload: 'YES' }, 'Yes'],
    [{ type: 'interactive', buttonReply: { id: 'b', title: 'Cancel' } }, 'Cancel'],
    [{ type: 'interactive', listReply: { id: 'l', title: 'Express', description: 'd' } }, 'Express'],
    [{ type: 'reaction', messageId: 'wamid.A', emoji: '👍' }, '👍'],
    [{ type: 'location', latitude: 37.4, longitude: -122.1, name: 'Philz' }, 'Philz'],
    [{ type: 'contacts', contacts: [{ name: 'Lucía Gómez', phone: '+1 983 555 2319' }] }, 'Lucía Gómez'],
    [{ type: 'document', caption: 'Bill', filename: 'bill.pdf' }, 'Bill'],
    [{ type: 'audio' }, undefined],
    [{ type: 'sticker' }, undefined],
    [{ type: 'video', caption: 'Clip' }, 'Clip'],
    [{ type: 'order', items: [{ productRetailerId: 'p', quantity: 2, itemPrice: 30, currency: 'USD' }] }, undefined],
    [{ type: 'system', newPhone: '+12195555358' }, expect.stringContaining('12195555358')],
  ])('%o arrives in the network’s format', async (fields, expected) => {
    const { control, emulator, receiver } = await startNetwork();
    const { body } = await control('POST', 'inbound', { from: PERSON, profileName: 'Sheena', ...fields });
    await emulator.settled();
    expect(receiver.updates().filter(({ kind }) => kind === 'message')).toMatchObject([
      { kind: 'message', wamid: body['wamid'], type: fields.type, text: expected, from: '14155550123' },
    ]);
  });

  test('an unsupported message arrives with its error', async () => {
    const { control, emulator, receiver } = await startNetwork();
    await control('POST', 'inbound', { from: PERSON, type: 'unsupported' });
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([{ type: 'unsupported', error: { code: 131051 } }]);
  });
});

describe('faults', () => {
  test('are merged, shown and reset', async () => {
    const { control } = await startNetwork({ faults: { latencyMs: 1 } });
    await control('POST', 'faults', { duplicate: true, next: [{ timeout: true, when: 'after' }] });
    await control('POST', 'faults', { next: [{ errorCode: 131000 }] });
    expect((await control('GET', 'faults')).body).toMatchObject({
      latencyMs: 1,
      duplicate: 1,
      next: [
        { timeout: true, when: 'after', count: 1 },
        { errorCode: 131000, when: 'before', count: 1 },
      ],
    });
    expect((await control('POST', 'faults', { next: [] })).body).toMatchObject({ next: [], duplicate: 1 });
    expect((await control('DELETE', 'faults')).body).toMatchObject({ latencyMs: 1, duplicate: 0, next: [] });
  });

  test('affect the configured number of sends', async () => {
    const { network, control } = await startNetwork();
    await control('POST', 'faults', { next: [{ errorCode: 131048, count: 2 }] });
    const kinds = [];
    for (const id of ['a', 'b', 'c']) kinds.push((await network.send(CHANNEL, text(id))).kind);
    expect(kinds).toEqual(['refused', 'refused', 'accepted']);
  });

  test('latencyMs delays responses', async () => {
    const { network } = await startNetwork({ faults: { latencyMs: 80 } });
    const start = performance.now();
    expect((await network.send(CHANNEL, text('m1'))).kind).toBe('accepted');
    expect(performance.now() - start).toBeGreaterThan(75);
  });
});

describe('GET sent', () => {
  test('counts messages by callback id, and reports duplicates', async () => {
    const { network, control } = await startNetwork();
    for (const id of ['a', 'b', 'a']) await network.send(CHANNEL, text(id, `text ${id}`));
    expect((await control('GET', 'sent?limit=1')).body).toMatchObject({
      total: 3,
      duplicates: 1,
      matched: 3,
      messages: [{ callbackData: 'a', body: 'text a', to: PERSON, type: 'text', at: expect.stringMatching(/Z$/) }],
      byCallbackData: { a: 2, b: 1 },
    });
    expect((await control('GET', 'sent?callbackData=b')).body).toMatchObject({
      matched: 1,
      messages: [{ callbackData: 'b' }],
    });
    expect((await control('GET', 'sent?to=14155550123')).body).toMatchObject({ matched: 3 });
    expect((await control('GET', 'sent?to=4930')).body).toMatchObject({ matched: 0, total: 3 });
    await control('DELETE', 'sent');
    expect((await control('GET', 'sent')).body).toMatchObject({ total: 0, duplicates: 0, byCallbackData: {} });
  });
});

describe('windows, templates, address, numbers', () => {
  test('a window is opened and closed without a message', async () => {
    const { control, network, emulator, receiver } = await startNetwork();
    expect((await control('POST', 'windows', { phone: PERSON, open: true })).body).toMatchObject({
      phone: '14155550123',
      open: true,
    });
    await network.send(CHANNEL, text('m1'));
    await emulator.settled();
    await control('POST', 'windows', { phone: PERSON, open: false });
    await network.send(CHANNEL, text('m2'));
    await emulator.settled();
    expect(receiver.statuses()).toEqual(['sent', 'delivered', 'read', 'failed']);
  });

  test('a window with a past end is closed', async () => {
    const { control } = await startNetwork();
    const answer = await control('POST', 'windows', { phone: PERSON, expiresAt: '2020-01-01T00:00:00Z' });
    expect(answer.body).toMatchObject({ open: false });
  });

  test('pausing a template sends a webhook', async () => {
    const { control, emulator, receiver } = await startNetwork();
    await control('POST', 'templates', { name: 'hello_world', status: 'PAUSED', reason: 'LOW_QUALITY' });
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([
      { kind: 'template', name: 'hello_world', status: { word: 'PAUSED', reason: 'LOW_QUALITY' } },
    ]);
  });

  test('the webhook URL is changed, and verified first if requested', async () => {
    const { control, emulator, receiver } = await startNetwork();
    expect((await control('POST', 'webhook-url', { url: null })).status).toBe(200);
    emulator.inbound({ from: PERSON, text: 'Hi' });
    expect((await control('GET', 'webhooks')).body).toMatchObject({ url: null, pending: 1, delivered: 0 });
    expect(
      (await control('POST', 'webhook-url', { url: 'http://127.0.0.1:1/', verify: true })).body['error'],
    ).toContain('url: the server did not answer the verification');
    expect((await control('POST', 'webhook-url', { url: receiver.url, verify: true })).status).toBe(200);
    await emulator.settled();
    expect((await control('GET', 'webhooks')).body).toMatchObject({ pending: 0, delivered: 1 });
  });

  test('an added number can be used at once; tokens are not shown', async () => {
    const { control, network } = await startNetwork();
    const number = {
      phoneNumberId: '55',
      wabaId: '56',
      displayPhoneNumber: '+49 30 1234567',
      verifiedName: 'Zweite',
      accessToken: 'secret-55',
    };
    await control('POST', 'numbers', number);
    const outcome = await network.send({ phoneNumberId: '55', wabaId: '56', accessToken: 'secret-55' }, text('m1'));
    expect(outcome.kind).toBe('accepted');
    expect(JSON.stringify((await control('GET', 'numbers')).body)).not.toContain('secret-55');
  });
});
