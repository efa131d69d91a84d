import { expect, test } from 'vitest';
import { windowAfter, windowOf } from '../../../src/features/messages/window.ts';
import { HOUR } from '../../../src/platform/clock.ts';

const NOW = '2026-11-21T12:00:00.000Z';

test('a service window is open for exactly 24 hours after an inbound message', () => {
  const at = Date.parse(NOW);
  expect(windowOf(windowAfter(at), at + 24 * HOUR - 1).open).toBe(true);
  expect(windowOf(windowAfter(at), at + 24 * HOUR).open).toBe(false);
  expect(windowOf(null, at)).toEqual({ open: false, expiresAt: null });
});
