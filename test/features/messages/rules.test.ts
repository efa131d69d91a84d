import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, decide } from '../../../src/features/messages/dispatch/retry.ts';
import type { MessageRow, Status } from '../../../src/features/messages/message.ts';
import { isWord, wordSet } from '../../../src/features/messages/opt-keywords.ts';
import { emptyFields, mergeFields, unknownFields } from '../../../src/features/messages/send/merge-fields.ts';
import { foldStatuses, mayFollow, type StatusUpdate } from '../../../src/features/messages/statuses/status.ts';
import { windowAfter, windowOf } from '../../../src/features/messages/window.ts';
import type { RetryClass } from '../../../src/network/network.ts';
import { DAY, HOUR, MINUTE } from '../../../src/platform/clock.ts';

const NOW = '2026-11-21T12:00:00.000Z';
const message = (status: Status): MessageRow => ({
  id: '01a1fbba-8572-736b-a78f-ab3d1376dbe3',
  conversation_id: 1,
  contact_id: 1,
  channel_id: 1,
  direction: 'outbound',
  type: 'text',
  body: 'Hi',
  content: {},
  status,
  error: null,
  wamid: null,
  reply_to_wamid: null,
  sent_at: null,
  delivered_at: null,
  read_at: null,
  failed_at: null,
  created_at: NOW,
  updated_at: NOW,
  author: null,
  template_id: null,
  echo_id: null,
  retry_of: null,
});
const RANK = ['queued', 'sent', 'delivered', 'read'];
const updates = fc.array(
  fc.record<StatusUpdate>({
    status: fc.constantFrom('sent', 'delivered', 'read', 'failed'),
    at: fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map(date => date.toISOString()),
  }),
  { maxLength: 12 },
);

test('a status never moves back, for any statuses in any batches', () => {
  fc.assert(
    fc.property(fc.array(updates, { maxLength: 6 }), batches => {
      let current = message('queued');
      for (const batch of batches) {
        const { message: next, steps } = foldStatuses(current, batch, NOW);
        for (const [before, after] of [current, ...steps].map((step, index, all) => [step, all[index + 1]] as const)) {
          if (after) expect(mayFollow(before.status, after.status as StatusUpdate['status'])).toBe(true);
        }
        if (current.status === 'failed') expect(next.status).toBe('failed');
        else if (next.status !== 'failed')
          expect(RANK.indexOf(next.status)).toBeGreaterThanOrEqual(RANK.indexOf(current.status));
        current = next;
      }
    }),
  );
});

test('the same updates lead to the same status in any order, unless one is a failure', () => {
  const forward = updates.map(list => list.filter(({ status }) => status !== 'failed'));
  fc.assert(
    fc.property(forward, fc.nat(), (list, seed) => {
      const shuffled = list
        .map((item, index) => ({ item, key: Math.sin(seed + index) }))
        .sort((a, b) => a.key - b.key)
        .map(({ item }) => item);
      const one = foldStatuses(message('queued'), list, NOW).message.status;
      let single = message('queued');
      for (const update of shuffled) single = foldStatuses(single, [update], NOW).message;
      expect(single.status).toBe(one);
    }),
  );
});

test('a delivered message cannot fail, and a failure is final', () => {
  expect(foldStatuses(message('delivered'), [{ status: 'failed', at: NOW }], NOW).message.status).toBe('delivered');
  expect(foldStatuses(message('failed'), [{ status: 'read', at: NOW }], NOW).message.status).toBe('failed');
  expect(foldStatuses(message('sent'), [{ status: 'failed', at: NOW }], NOW).steps.map(step => step.status)).toEqual([
    'failed',
  ]);
});

test('each step forward of a batch is reported once, in ascending order, and a late "sent" sets sent_at', () => {
  const batch: StatusUpdate[] = [
    { status: 'read', at: '2026-11-21T12:00:03.000Z' },
    { status: 'sent', at: '2026-11-21T12:00:01.000Z' },
    { status: 'read', at: NOW },
  ];
  expect(foldStatuses(message('queued'), batch, NOW).steps.map(step => step.status)).toEqual(['sent', 'read']);
  const late = foldStatuses({ ...message('delivered') }, [{ status: 'sent', at: NOW, wamid: 'wamid.1' }], NOW);
  expect(late.steps).toEqual([]);
  expect(late.message).toMatchObject({ status: 'delivered', sent_at: NOW, wamid: 'wamid.1' });
});

const person = {
  firstname: 'Ana',
  lastname: 'Silva',
  email: null,
  phone: '+14155550123',
  company: '',
  city: 'Lisboa',
  state: null,
  country_id: 620,
};

test('a merge field without a value is replaced by its fallback, or named', () => {
  expect(mergeFields('Hi @{contact_email|there}, @{contact_first_name|you}@{contact_email|}', person)).toBe(
    'Hi there, Ana',
  );
  expect(emptyFields('@{contact_email} @{contact_email} @{contact_email|x} @{contact_first_name}', person)).toEqual([
    'contact_email',
  ]);
  expect(emptyFields('@{contact_first_name}', { ...person, firstname: '  ' })).toEqual(['contact_first_name']);
  expect(unknownFields('@{nope|x}')).toEqual(['nope']);
  expect(mergeFields('@{contact_email|@{contact_first_name}}', person)).toBe('@{contact_email|Ana}');
});

test('merge fields are filled from the contact, and one without a value is removed', () => {
  expect(
    mergeFields('Hi @{contact_first_name} of @{contact_city}, @{contact_country} <@{contact_email}>', person),
  ).toBe('Hi Ana of Lisboa, Portugal <>');
  expect(mergeFields('@{contact_full_name} @{contact_phone}', person)).toBe('Ana Silva +14155550123');
  expect(unknownFields('@{contact_first_name} @{nope} @{also_not}')).toEqual(['nope', 'also_not']);
  for (const inherited of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(unknownFields(`@{${inherited}}`)).toEqual([inherited]);
    expect(mergeFields(`@{${inherited}}`, person)).toBe(`@{${inherited}}`);
  }
});

test('merged values are not searched for merge fields', () => {
  fc.assert(
    fc.property(fc.constantFrom('@{contact_last_name}', '@{contact_email}', '@{'), fc.string(), (inner, rest) => {
      expect(mergeFields(`@{contact_first_name}${rest.replaceAll('@', '')}`, { ...person, firstname: inner })).toBe(
        inner + rest.replaceAll('@', ''),
      );
    }),
  );
});

test('an opt-out keyword ignores diacritics, in the list and in the message, but not letters of other scripts', () => {
  const words = wordSet(['Arrêt', 'aufhören', 'रोको', 'หยุด', 'стой', 'להפסיק', 'STRASSE']);
  for (const text of ['arret', 'ARRÊT', 'arre\u0302t', 'Aufhoren!', 'रोको', 'หยุด', 'СТОЙ', 'להפסיק', 'straße'])
    expect(isWord(text, words), text).toBe(true);
  for (const text of ['रका', 'หยด', 'aufhoeren', 'ar ret']) expect(isWord(text, words), text).toBe(false);
});

test('an opt-out keyword is the whole message, ignoring case, spaces and punctuation', () => {
  for (const text of ['STOP', ' stop ', 'Stop.', '¡Stop!', 'ＳＴＯＰ'])
    expect(isWord(text, wordSet(['stop']))).toBe(true);
  for (const text of ["don't stop", 'stop it', 'stopp', '', '.']) expect(isWord(text, wordSet(['stop']))).toBe(false);
  expect(isWord('Stop  promotions!', wordSet(['stop promotions']))).toBe(true);
});

test('a service window is open for exactly 24 hours after an inbound message', () => {
  const at = Date.parse(NOW);
  expect(windowOf(windowAfter(at), at + 24 * HOUR - 1).open).toBe(true);
  expect(windowOf(windowAfter(at), at + 24 * HOUR).open).toBe(false);
  expect(windowOf(null, at)).toEqual({ open: false, expiresAt: null });
});

const attempt = { number: 1, ageMs: 0, reconcileMs: 30_000, jitter: 0 };
const refused = (retryClass: RetryClass, code = 1) =>
  ({ kind: 'refused', error: { code, title: 'T', details: 'D', retryClass } }) as const;

test('the retry class of the network’s error code decides on a retry', () => {
  expect(decide({ kind: 'accepted', wamid: 'w' }, attempt)).toMatchObject({ kind: 'sent', wamid: 'w' });
  expect(decide({ kind: 'in_doubt', reason: 'r' }, attempt)).toMatchObject({
    kind: 'retry',
    afterMs: 30_000,
    hold: 'no',
  });
  expect(decide({ kind: 'unsent', reason: 'r' }, attempt)).toMatchObject({ kind: 'retry', hold: 'briefly' });
  expect(decide(refused('no_retry'), attempt).kind).toBe('failed');
  expect(decide(refused('fix_request'), attempt).kind).toBe('failed');
  expect(decide(refused('auth', 190), attempt).kind).toBe('pause');
  expect(decide(refused('pause_account', 131031), attempt).kind).toBe('pause');
  expect(decide(refused('retry_after_wait'), attempt)).toMatchObject({
    kind: 'retry',
    afterMs: 10 * MINUTE,
    hold: 'throughout',
  });
  expect(decide(refused('retry_backoff', 131056), { ...attempt, number: 3 })).toMatchObject({
    kind: 'retry',
    afterMs: 16_000,
    hold: 'no',
  });
  expect(decide({ kind: 'unsent', reason: 'r' }, { ...attempt, ageMs: DAY + 1 }).kind).toBe('failed');
});

test('the backoff grows with each attempt, up to five minutes plus a quarter', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(2, 4),
      (number, jitter, base) => {
        const ms = backoffMs({ number, jitter }, base);
        expect(ms).toBeGreaterThanOrEqual(1_000);
        expect(ms).toBeLessThanOrEqual(5 * MINUTE * 1.25);
        expect(backoffMs({ number: number + 1, jitter }, base)).toBeGreaterThanOrEqual(ms);
      },
    ),
  );
});
