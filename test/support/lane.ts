import type { Lane } from '../../src/lanes/lane.ts';
import type { Lanes } from '../../src/lanes/runtime.ts';

/** Claims on whatever timeline the database has. */
export const ANY_TIMELINE: Pick<Lanes, 'timeline' | 'suspectPromotion'> = {
  timeline: null,
  suspectPromotion: () => undefined,
};

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
