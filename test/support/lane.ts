import type { Lane } from '../../src/lanes/lane.ts';

/** A lane that is never lost and never woken, for tests that call a drain directly. */
export const testLane = (queue: string, tenantId: number, key: string): Lane => ({
  queue,
  tenantId,
  key,
  epoch: 0,
  isTakeover: false,
  isStopping: false,
  signal: new AbortController().signal,
  mayCall: () => true,
  ready: async () => true,
  fence: async () => undefined,
  isTurnOver: () => false,
  isSlotWanted: () => false,
  takeWakeUp: () => false,
  wait: async () => false,
  linger: async () => false,
});
