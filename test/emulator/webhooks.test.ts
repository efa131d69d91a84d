import { describe, expect, test } from 'vitest';
import {
  CHANNEL,
  createClient,
  eventually,
  NUMBER,
  PERSON,
  startNetwork,
  type TestNetwork,
  text,
} from '../network/network.ts';
import { startReceiver } from '../network/receiver.ts';
import { freePort } from '../support/processes.ts';

/** Sends one message in an open window and waits for its statuses. */
async function sendOne({ network, emulator }: TestNetwork, id = 'm1'): Promise<string> {
  emulator.setFaults({ window: 'open' });
  const outcome = await network.send(CHANNEL, text(id));
  await emulator.settled();
  return outcome.kind === 'accepted' ? outcome.wamid : '';
}

const entriesOf = (body: unknown) => (body as { entry: { id: string; changes: unknown[] }[] }).entry;

describe('statuses', () => {
  test('sent, delivered and read contain our id and the person, and the price once', async () => {
    const net = await startNetwork();
    const wamid = await sendOne(net);
    expect(net.receiver.updates()).toMatchObject(
      ['sent', 'delivered', 'read'].map(status => ({
        status,
        wamid,
        callbackData: 'm1',
        recipientId: '14155550123',
        userId: expect.stringMatching(/^US\.\d+$/),
      })),
    );
    expect(net.receiver.deliveries.filter(d => d.raw.includes('"pricing"'))).toHaveLength(1);
    expect(net.emulator.sent().messages).toMatchObject([{ statuses: ['sent', 'delivered', 'read'] }]);
  });

  test('read is omitted without read receipts', async () => {
    const net = await startNetwork({ faults: { readReceipts: false } });
    await sendOne(net);
    expect(net.receiver.statuses()).toEqual(['sent', 'delivered']);
  });

  test('skipDelivered omits delivered', async () => {
    const net = await startNetwork({ faults: { skipDelivered: true } });
    await sendOne(net);
    expect(net.receiver.statuses()).toEqual(['sent', 'read']);
  });

  test('dropStatuses drops all', async () => {
    const net = await startNetwork({ faults: { dropStatuses: true } });
    await sendOne(net);
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(net.receiver.deliveries).toEqual([]);
  });

  test('reorder reverses their order', async () => {
    const net = await startNetwork({ faults: { reorder: true } });
    await sendOne(net);
    expect(net.receiver.statuses()).toEqual(['read', 'delivered', 'sent']);
  });

  test('duplicate posts them twice', async () => {
    const net = await startNetwork({ faults: { duplicate: true } });
    await sendOne(net);
    await eventually(() => net.receiver.statuses().length === 6, 'six statuses');
    expect(net.receiver.statuses().toSorted()).toEqual(['delivered', 'delivered', 'read', 'read', 'sent', 'sent']);
  });

  test('statusBeforeAnswer posts the first before the response to the send', async () => {
    const net = await startNetwork({ faults: { statusBeforeAnswer: true, window: 'open' } });
    await net.network.send(CHANNEL, text('m1'));
    // Further statuses may have followed.
    expect(net.receiver.statuses().at(0)).toBe('sent');
  });
});

describe('the webhook signature', () => {
  test('covers bytes with \\/ and \\uXXXX escapes', async () => {
    const { emulator, receiver } = await startNetwork();
    emulator.inbound({ from: PERSON, text: 'Olá 🙂 a/b' });
    await emulator.settled();
    expect(receiver.deliveries).toMatchObject([{ signed: true, updates: [{ text: 'Olá 🙂 a/b' }] }]);
    expect(receiver.deliveries[0]?.raw).toContain('Ol\\u00e1 \\ud83d\\ude42 a\\/b');
  });

  test('is valid without escapes too', async () => {
    const { emulator, receiver } = await startNetwork({ faults: { escape: false } });
    emulator.inbound({ from: PERSON, text: 'Olá a/b' });
    await emulator.settled();
    expect(receiver.deliveries).toMatchObject([{ signed: true, raw: expect.stringContaining('Olá a/b') }]);
  });
});

describe('batches', () => {
  test('combine a burst of sends into few POSTs', async () => {
    const { emulator, receiver } = await startNetwork({ faults: { window: 'open', throughputLimit: false } });
    const network = createClient(emulator.url);
    const hold = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      receiver.held = promise;
      return resolve;
    };
    let release = hold();
    // The emulator repeats a POST without an answer after ten seconds: on a slow machine the sends may take longer.
    const renewing = setInterval(() => {
      release();
      release = hold();
    }, 5_000);
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => network.send(CHANNEL, text(`m${i}`, 'x', `+1415555${1_000 + i}`))),
    );
    // Longer than the delay of the last status: all are due by then.
    await new Promise(resolve => setTimeout(resolve, 60));
    clearInterval(renewing);
    release();
    await emulator.settled();
    expect(receiver.statuses()).toHaveLength(1_500);
    expect(receiver.deliveries.length).toBeLessThan(10);
    expect(receiver.deliveries.every(delivery => delivery.signed)).toBe(true);
  });

  test('contain up to 1,000 updates', async () => {
    const { emulator, receiver } = await startNetwork({ faults: { window: 'open', throughputLimit: false } });
    const network = createClient(emulator.url);
    emulator.setWebhookUrl(undefined);
    await Promise.all(
      Array.from({ length: 400 }, (_, i) => network.send(CHANNEL, text(`m${i}`, 'x', `+1415555${1_000 + i}`))),
    );
    await new Promise(resolve => setTimeout(resolve, 60));
    emulator.setWebhookUrl(receiver.url);
    await emulator.settled();
    expect(receiver.deliveries.map(delivery => delivery.updates.length).toSorted()).toEqual([1_000, 200].toSorted());
  });

  test('are spread over several entries and changes if configured', async () => {
    const { emulator, receiver } = await startNetwork({ faults: { batch: 'spread' } });
    emulator.setWebhookUrl(undefined);
    for (let i = 0; i < 4; i++) emulator.inbound({ from: PERSON, text: `text ${i}` });
    await new Promise(resolve => setTimeout(resolve, 30));
    emulator.setWebhookUrl(receiver.url);
    await emulator.settled();
    expect(receiver.deliveries).toHaveLength(1);
    expect(entriesOf(receiver.deliveries[0]?.body).map(entry => entry.changes.length)).toEqual([2, 2]);
    expect(receiver.updates()).toHaveLength(4);
  });

  test('contain one update each if configured', async () => {
    const { emulator, receiver } = await startNetwork({ faults: { batch: 'single' } });
    for (let i = 0; i < 4; i++) emulator.inbound({ from: PERSON, text: `text ${i}` });
    await emulator.settled();
    expect(receiver.deliveries.map(delivery => delivery.updates.length)).toEqual([1, 1, 1, 1]);
  });

  test('separate accounts and numbers', async () => {
    const second = { ...NUMBER, phoneNumberId: '2', accessToken: 't2' };
    const third = { ...NUMBER, phoneNumberId: '3', wabaId: '33', accessToken: 't3' };
    const { emulator, receiver } = await startNetwork({ numbers: [NUMBER, second, third] });
    for (const phoneNumberId of [NUMBER.phoneNumberId, '2', '3'])
      emulator.inbound({ from: PERSON, text: 'x', phoneNumberId });
    await emulator.settled();
    expect(receiver.updates().map(u => u.kind === 'message' && u.phoneNumberId)).toEqual(
      expect.arrayContaining([NUMBER.phoneNumberId, '2', '3']),
    );
    const third33 = receiver.deliveries.flatMap(d => entriesOf(d.body)).filter(entry => entry.id === '33');
    expect(third33).toHaveLength(1);
  });
});

describe('an update that was not acknowledged with 200 is posted again', () => {
  test('after an error of the receiver', async () => {
    const { emulator, receiver } = await startNetwork();
    receiver.answer = 500;
    emulator.inbound({ from: PERSON, text: 'Hi' });
    await eventually(() => emulator.webhooks().failedPosts >= 2, 'two failed posts');
    receiver.answer = 200;
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([{ text: 'Hi' }]);
    expect(emulator.webhooks()).toMatchObject({ pending: 0, delivered: 1, lastFailure: 'HTTP 500' });
  });

  test('even after 204', async () => {
    const { emulator, receiver } = await startNetwork();
    receiver.answer = 204;
    emulator.inbound({ from: PERSON, text: 'Hi' });
    await eventually(() => emulator.webhooks().failedPosts >= 1, 'a failed post');
    receiver.answer = 200;
    await emulator.settled();
    expect(receiver.updates()).toHaveLength(1);
  });

  test('after an outage of the receiver, without loss or duplicates', async () => {
    const net = await startNetwork({ faults: { window: 'open' } });
    // Nobody listens there yet, and the system does not give this port to anybody else.
    const port = await freePort();
    net.emulator.setWebhookUrl(`http://127.0.0.1:${port}/webhook`);
    for (let i = 0; i < 20; i++) await net.network.send(CHANNEL, text(`m${i}`));
    await eventually(() => net.emulator.webhooks().failedPosts >= 3, 'some failed posts');
    const back = await startReceiver('app-secret', 'verify-me', port);
    await net.emulator.settled();
    await back.close();
    expect(back.statuses()).toHaveLength(60);
    expect(new Set(back.updates().map(u => u.kind === 'status' && `${u.wamid} ${u.status}`)).size).toBe(60);
  });
});

describe('a person with a user id only', () => {
  test('sends messages without a number, which open the window of the user id', async () => {
    const { emulator, receiver } = await startNetwork();
    emulator.inbound({ userId: 'BR.1349', profileName: 'Bia', text: 'Oi' });
    await emulator.settled();
    expect(receiver.updates()).toMatchObject([
      { kind: 'message', from: undefined, userId: 'BR.1349', profileName: 'Bia' },
    ]);
    expect(receiver.deliveries[0]?.raw).not.toMatch(/"wa_id"|"from":/);
  });
});

describe('subscriptions', () => {
  test('an account that unsubscribed the app gets no webhooks', async () => {
    const { emulator, receiver, graph } = await startNetwork();
    await graph('DELETE', `${NUMBER.wabaId}/subscribed_apps`);
    expect((await graph('GET', `${NUMBER.wabaId}/subscribed_apps`)).body).toEqual({ data: [] });
    emulator.inbound({ from: PERSON, text: 'Hi' });
    await emulator.settled();
    expect(receiver.deliveries).toEqual([]);
    expect(emulator.webhooks()).toMatchObject({ failed: 1 });
  });

  test('an account’s override URL is verified, then used', async () => {
    const { emulator, receiver, graph } = await startNetwork();
    const own = await startReceiver('app-secret', 'own-token');
    const refused = await graph('POST', `${NUMBER.wabaId}/subscribed_apps`, {
      override_callback_uri: own.url,
      verify_token: 'other',
    });
    expect(refused.body.error?.code).toBe(100);
    const taken = await graph('POST', `${NUMBER.wabaId}/subscribed_apps`, {
      override_callback_uri: own.url,
      verify_token: 'own-token',
    });
    expect(taken.body).toEqual({ success: true });
    emulator.inbound({ from: PERSON, text: 'Hi' });
    await emulator.settled();
    await own.close();
    expect(own.updates()).toHaveLength(1);
    expect(receiver.deliveries).toEqual([]);
  });
});
