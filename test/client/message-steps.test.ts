import { expect, test } from 'vitest';
import { createStepKeeper } from '../../src/client/message-steps.ts';

const message = (status: string, more: object = {}) => ({ __typename: 'Message', id: 'one', status, ...more });

test('a message does not go back a step when the answer to its send comes after the event that it was read', () => {
  const keep = createStepKeeper();
  const read = { sentAt: '08:00', deliveredAt: '08:01', readAt: '08:02' };
  keep({ data: { events: { __typename: 'MessageEvent', message: message('READ', read) } } });
  // A list that asks for less.
  keep({ data: { conversations: [{ lastMessage: message('READ') }] } });
  const late = message('QUEUED', { sentAt: null, deliveredAt: null, readAt: null, previewText: 'Hi' });
  expect(keep({ data: { sendMessage: { message: late } } }).data.sendMessage.message).toEqual(
    message('READ', { ...read, previewText: 'Hi' }),
  );
  // Only fields that were asked for.
  expect(keep([message('SENT')])).toEqual([message('READ')]);
  const other = { __typename: 'Message', id: 'other', status: 'QUEUED' };
  expect(keep({ nodes: [other, null] })).toEqual({ nodes: [{ ...other }, null] });
});

test('a failure is final: its reason stays when the answer to the send comes after it', () => {
  const keep = createStepKeeper();
  const failed = { failedAt: '08:01', error: { __typename: 'MessageError', code: 131_047 } };
  for (const status of ['SCHEDULED', 'QUEUED', 'SENT']) expect(keep(message(status)).status).toBe(status);
  keep(message('FAILED', failed));
  for (const status of ['SCHEDULED', 'QUEUED', 'SENT'])
    expect(keep(message(status, { failedAt: null, error: null }))).toEqual(message('FAILED', failed));
  const cancelled = { ...message('CANCELLED'), id: 'two' };
  keep(cancelled);
  expect(keep({ ...message('SCHEDULED'), id: 'two' })).toEqual(cancelled);
});
