import type { Lane } from '../../src/lanes/lane.ts';

/** A lane that is held for good and never woken, for a drain that a test calls by itself. */
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
