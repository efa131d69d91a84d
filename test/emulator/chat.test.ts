import { expect, test } from 'vitest';
import { CHANNEL, eventually, PERSON, startNetwork, text } from '../network/network.ts';

test('a phone shows the messages between its person and the business, and no others', async () => {
  const { network, control } = await startNetwork();
  await control('POST', 'inbound', { from: PERSON, text: 'Hi' });
  await control('POST', 'inbound', { from: '+14155550999', text: 'Not mine' });
  await network.send(CHANNEL, text('one', 'Hello back'));
  const { body } = await control('GET', `chat?person=${encodeURIComponent(PERSON)}`);
  expect(
    (body['messages'] as { content: object; isFromPerson: boolean }[]).map(each => [each.isFromPerson, each.content]),
  ).toEqual([
    [true, { body: 'Hi' }],
    [false, expect.objectContaining({ body: 'Hello back' })],
  ]);
});

test('an open window closes when its hours have passed', async () => {
  const { network, control, emulator } = await startNetwork();
  await control('POST', 'inbound', { from: PERSON, text: 'Hi' });
  expect((await control('POST', 'time', { passedHours: 25 })).body).toEqual({ windows: 1 });
  expect((await control('POST', 'time', { passedHours: -1 })).status).toBe(400);
  await network.send(CHANNEL, text('two', 'Too late'));
  await eventually(() => emulator.sent().messages[0]?.statuses.includes('failed') ?? false, 'the refusal');
});

test('messages of one millisecond keep their order of arrival', async () => {
  const now = Date.now();
  const { network, control } = await startNetwork({ clock: { now: () => now } });
  const written: string[] = [];
  for (let turn = 0; turn < 30; turn += 1) {
    await control('POST', 'inbound', { from: PERSON, text: `Question ${turn}` });
    await network.send(CHANNEL, text(`answer-${turn}`, `Answer ${turn}`));
    written.push(`Question ${turn}`, `Answer ${turn}`);
  }
  const { body } = await control('GET', `chat?person=${encodeURIComponent(PERSON)}`);
  expect((body['messages'] as { content: { body: string } }[]).map(({ content }) => content.body)).toEqual(written);
});
