import { expect, test } from 'vitest';
import { newWamid } from '../../../src/emulator/wamid.ts';
import { peerOf, peopleOf } from '../../../src/network/cloud-api/people.ts';

const body = (value: object) => ({ object: 'x', entry: [{ id: '102290129340398', changes: [{ field: 'f', value }] }] });

test('peopleOf finds senders, recipients, participants and user ids at any position', () => {
  const value = {
    metadata: { display_phone_number: '15550783881', phone_number_id: '106540352242922' },
    contacts: [{ wa_id: '16505551234', user_id: 'US.13491208655302741918', profile: { name: 'Sheena' } }],
    messages: [{ from: '5511987654321', id: 'wamid.x', timestamp: '1749416383', from_user_id: 'BR.9' }],
    statuses: [{ recipient_participant_id: '4915112345678', parent: 'CC.ENT.1' }],
  };
  expect([...peopleOf(body(value))].sort()).toEqual(
    ['16505551234', '4915112345678', '551187654321', 'BR.9', 'CC.ENT.1', 'US.13491208655302741918'].sort(),
  );
});

test('peopleOf finds the number in a message id, even if nothing else names the person', () => {
  const id = newWamid('4915112345678', 'incoming');
  expect(peerOf(id)).toBe('4915112345678');
  expect(peerOf(newWamid('DE.alfa', 'outgoing'))).toBe('DE.alfa');
  expect([...peopleOf(body({ statuses: [{ id }] }))]).toEqual(['4915112345678']);
  expect(peerOf('wamid.')).toBeUndefined();
});

test('peopleOf finds the person of a history thread, and no business account', () => {
  expect([...peopleOf(body({ history: [{ threads: [{ id: '4915112345678', messages: [] }] }] }))]).toEqual([
    '4915112345678',
  ]);
});

test('peopleOf finds nobody in JSON that is not a webhook', () => {
  for (const odd of [null, 7, 'x', [], {}, { entry: [null, { changes: 'none' }] }]) expect(peopleOf(odd).size).toBe(0);
});
