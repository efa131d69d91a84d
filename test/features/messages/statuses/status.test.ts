import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MessageRow, Status } from '../../../../src/features/messages/message.ts';
import { foldStatuses, mayFollow, type StatusUpdate } from '../../../../src/features/messages/statuses/status.ts';

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
