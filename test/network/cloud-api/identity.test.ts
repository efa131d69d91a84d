import { describe, expect, test } from 'vitest';
import { parseWebhook } from '../parse.ts';

const TIME = '1749416383';
const at = new Date(Number(TIME) * 1_000);
const nobody = { waId: undefined, userId: undefined, parentUserId: undefined };

const parse = (field: string, value: object) =>
  parseWebhook({
    entry: [{ id: 'waba', changes: [{ field, value: { metadata: { phone_number_id: '1001' }, ...value } }] }],
  });

describe('user ids', () => {
  test.each([
    ['US.1234', 'US.1234'],
    ['DE.alfa', 'DE.alfa'],
    ['BR.ENT.9x', 'BR.ENT.9x'],
  ])('%s in `from` is a user id, never reduced to its digits', (from, userId) => {
    const [message] = parse('messages', { messages: [{ from, id: 'wamid.1', timestamp: TIME, type: 'text' }] });
    expect(message).toMatchObject({ from: undefined, userId });
  });

  test('username and parent id are read in addition to the user id', () => {
    const [message] = parse('messages', {
      contacts: [{ profile: { username: 'ana.s' }, user_id: 'US.1', parent_user_id: 'US.ENT.7' }],
      messages: [{ from_user_id: 'US.1', id: 'wamid.1', timestamp: TIME, type: 'text' }],
    });
    expect(message).toMatchObject({ userId: 'US.1', parentUserId: 'US.ENT.7', username: 'ana.s' });
  });
});

describe('identity changes', () => {
  const system = (fields: object, message: object = {}) =>
    parse('messages', {
      messages: [{ from: '491511', id: 'wamid.1', timestamp: TIME, type: 'system', system: fields, ...message }],
    }).filter(update => update.kind === 'identity_change');

  test('user_changed_number links the old number to the new one', () => {
    const [change] = system({ type: 'user_changed_number', wa_id: '491512', user_id: 'DE.2', body: 'User A changed' });
    expect(change).toEqual({
      kind: 'identity_change',
      phoneNumberId: '1001',
      at,
      before: { ...nobody, waId: '491511' },
      after: { ...nobody, waId: '491512', userId: 'DE.2' },
    });
  });

  test('user_changed_user_id is read from its fields, or from its body', () => {
    const expected = { before: { userId: 'DE.1' }, after: { userId: 'DE.2' } };
    expect(system({ type: 'user_changed_user_id', user_id: 'DE.2' }, { from_user_id: 'DE.1' })[0]).toMatchObject(
      expected,
    );
    expect(system({ type: 'user_changed_user_id', body: 'User A changed from DE.1 to DE.2.' })[0]).toMatchObject(
      expected,
    );
  });

  test('a profile name that looks like user ids links no identities', () => {
    const [change] = system({
      type: 'user_changed_user_id',
      body: 'User DE.victim to DE.me changed from DE.1 to DE.2',
    });
    expect(change).toMatchObject({ before: { userId: 'DE.1' }, after: { userId: 'DE.2' } });
    const named = system({ type: 'user_changed_number', wa_id: '491512', body: 'User DE.victim to DE.me changed' });
    expect(named[0]).toMatchObject({ before: { userId: undefined }, after: { userId: undefined } });
  });

  test('a system message with only one identity links nothing', () => {
    expect(system({ type: 'user_changed_number', body: 'User A changed' })).toEqual([]);
    expect(system({ type: 'customer_identity_changed', wa_id: '491512' })).toEqual([]);
  });

  test('user_id_update links the previous user id to the current one', () => {
    const [change] = parse('user_id_update', {
      user_id_update: [
        {
          wa_id: '491512',
          user_id: { previous: 'DE.1', current: 'DE.2' },
          parent_user_id: { previous: 'DE.ENT.1', current: 'DE.ENT.2' },
          timestamp: TIME,
        },
      ],
    });
    expect(change).toMatchObject({
      kind: 'identity_change',
      before: { userId: 'DE.1', parentUserId: 'DE.ENT.1' },
      after: { waId: '491512', userId: 'DE.2', parentUserId: 'DE.ENT.2' },
    });
  });
});

describe('user_preferences', () => {
  const preference = (fields: object) =>
    parse('user_preferences', {
      user_preferences: [
        { user_id: 'DE.1', category: 'marketing_messages', value: 'stop', timestamp: Number(TIME), ...fields },
      ],
    });

  test('stop and resume are read with the person', () => {
    const person = { ...nobody, waId: '491511', userId: 'DE.1' };
    expect(preference({ wa_id: '491511' })).toMatchObject([{ kind: 'preference', at, person, wish: 'stop' }]);
    expect(preference({ value: 'resume' })).toMatchObject([{ wish: 'resume' }]);
  });

  test('an unknown category or value is no opt-out', () => {
    expect(preference({ category: 'other' })).toMatchObject([{ kind: 'unhandled', reason: 'unreadable' }]);
    expect(preference({ value: 'maybe' })).toMatchObject([{ kind: 'unhandled', reason: 'unreadable' }]);
  });
});
