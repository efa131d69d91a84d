import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CHANNEL, eventually, PERSON, startNetwork, text } from '../network/network.ts';

interface Shown {
  readonly isFromPerson: boolean;
  readonly from?: string;
  readonly type: string;
  readonly content: { readonly body?: string };
}

test('messages to an offline phone arrive when it is online again, also after a restart of the network', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parley-phones-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const journal = join(directory, 'network.journal');
  const first = await startNetwork({ journal });
  await first.control('POST', 'inbound', { from: PERSON, text: 'Hi' });
  expect((await first.control('POST', 'phones', { phone: PERSON, isOffline: true })).body).toMatchObject({
    isOffline: true,
    arrived: 0,
  });
  await first.network.send(CHANNEL, text('one', 'Are you there?'));
  await eventually(() => first.emulator.sent().messages[0]?.statuses.includes('sent') ?? false, 'sent');
  await first.emulator.settled();
  expect(first.emulator.sent().messages[0]?.statuses).toEqual(['sent']);
  const before = (await first.control('GET', `chat?person=${encodeURIComponent(PERSON)}`)).body;
  expect((before['messages'] as Shown[]).map(({ content }) => content.body)).toEqual(['Hi']);
  await first.emulator.stop();

  const { control, emulator } = await startNetwork({ journal });
  expect((await control('POST', 'phones', { phone: PERSON, isOffline: false })).body).toMatchObject({
    isOffline: false,
    arrived: 1,
  });
  const after = (await control('GET', `chat?person=${encodeURIComponent(PERSON)}`)).body;
  expect((after['messages'] as Shown[]).map(({ content }) => content.body)).toEqual(['Hi', 'Are you there?']);
  await eventually(() => emulator.sent().messages[0]?.statuses.includes('read') ?? false, 'read');
  // A second return delivers nothing again.
  expect((await control('POST', 'phones', { phone: PERSON, isOffline: false })).body['arrived']).toBe(0);
});

test('a person who blocks a number gets nothing from it, also not later', async () => {
  const { network, control, emulator } = await startNetwork();
  await control('POST', 'inbound', { from: PERSON, text: 'Stop' });
  await control('POST', 'phones', { phone: PERSON, isBlocking: true });
  await network.send(CHANNEL, text('one', 'Hello?'));
  await eventually(() => emulator.sent().messages[0]?.statuses.includes('sent') ?? false, 'sent');
  await control('POST', 'phones', { phone: PERSON, isBlocking: false });
  await network.send(CHANNEL, text('two', 'Thank you'));
  await eventually(() => emulator.sent().messages[1]?.statuses.includes('read') ?? false, 'read');
  const { body } = await control('GET', `chat?person=${encodeURIComponent(PERSON)}`);
  expect((body['messages'] as Shown[]).map(({ content }) => content.body)).toEqual(['Stop', 'Thank you']);
});

test('a phone with a new number keeps its chat', async () => {
  const { network, control } = await startNetwork();
  await control('POST', 'inbound', { from: PERSON, text: 'Hi' });
  await network.send(CHANNEL, text('one', 'Hello'));
  await control('POST', 'inbound', { type: 'system', from: PERSON, newPhone: '+14155550777' });
  await control('POST', 'inbound', { from: '+14155550777', text: 'My new number' });
  const { body } = await control('GET', `chat?person=${encodeURIComponent('+14155550777')}`);
  const shown = (body['messages'] as Shown[]).map(({ type, content }) => (type === 'system' ? type : content.body));
  expect(shown).toEqual(['Hi', 'Hello', 'system', 'My new number']);
});

test('people join a group chat, and see there what its members write', async () => {
  const { control } = await startNetwork();
  await control('POST', 'groups', { phone: PERSON, groupId: 'G1', subject: 'Runners' });
  await control('POST', 'groups', { phone: '+14155550999', groupId: 'G1' });
  await control('POST', 'inbound', { from: '+14155550999', text: 'Who runs today?', groupId: 'G1' });
  const group = await control('GET', `chat?person=${encodeURIComponent(PERSON)}&groupId=G1`);
  expect(group.body['groups']).toEqual([{ groupId: 'G1', subject: 'Runners' }]);
  expect(group.body['messages']).toEqual([
    expect.objectContaining({ isFromPerson: false, from: '14155550999', content: { body: 'Who runs today?' } }),
  ]);
  expect((await control('GET', `chat?person=${encodeURIComponent(PERSON)}`)).body['messages']).toEqual([]);
  expect((await control('POST', 'groups', { phone: PERSON, groupId: 'a b' })).status).toBe(400);
});
