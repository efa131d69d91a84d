import { expect, test } from 'vitest';
import type { Claimed } from '../../../../src/features/messages/dispatch/outbox.sql.ts';
import { type Acceptance, SentMemory } from '../../../../src/features/messages/dispatch/sent-memory.ts';

const claimed = (id: string, attempts = 1) => ({ message_id: id, attempts }) as Claimed;
const accepted = (id: string): Acceptance => ({
  type: 'text',
  status: { tenantId: 1, messageId: id, status: 'sent', at: '2027-01-01T00:00:00.000Z', wamid: `wamid.${id}` },
});
const idsOf = (memory: SentMemory): string[] => memory.acceptances().map(({ status }) => status.messageId);

test('an accepted message that is claimed again is recognized', () => {
  const memory = new SentMemory();
  expect(memory.claim(1, claimed('a'))).toBe('new');
  memory.accept(1, accepted('a'));
  expect(memory.claim(1, claimed('a'))).toEqual(accepted('a'));
  expect(memory.claim(1, claimed('a', 2))).toEqual(accepted('a'));
});

test('the same attempt is not begun twice, a later one is', () => {
  const memory = new SentMemory();
  expect(memory.claim(1, claimed('a', 2))).toBe('new');
  expect(memory.claim(1, claimed('a', 2))).toBe('known');
  expect(memory.claim(1, claimed('a', 3))).toBe('new');
  expect(memory.inDoubt()).toEqual([expect.objectContaining({ tenantId: 1, messageId: 'a', attempts: 3 })]);
  // Refused, so that it is tried again.
  memory.forget('a');
  expect(memory.claim(1, claimed('a', 3))).toBe('new');
});

test('the oldest acceptances are forgotten when there are too many', () => {
  const memory = new SentMemory({ maximum: 2 });
  for (const id of ['a', 'b', 'c']) {
    memory.claim(1, claimed(id));
    memory.accept(1, accepted(id));
  }
  expect(idsOf(memory)).toEqual(['b', 'c']);
});

test('acceptances are kept while none follows, however long that is', async () => {
  const memory = new SentMemory({ keepMs: 20 });
  memory.accept(1, accepted('a'));
  await new Promise(resolve => setTimeout(resolve, 40));
  expect(idsOf(memory)).toEqual(['a']);
  memory.accept(1, accepted('b'));
  expect(idsOf(memory)).toEqual(['b']);
});
