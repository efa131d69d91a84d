import { expect, test } from 'vitest';
import { HeldLane } from '../../src/lanes/held-lane.ts';
import { instantOf, systemClock } from '../../src/platform/clock.ts';

const LEASE_MS = 60_000;

function heldLane(isSlotWanted = false): HeldLane {
  const taken = { queue: 'outbox', tenant_id: 1, key: '1:1', epoch: 1, is_takeover: false };
  const host = { clock: systemClock, leaseMs: LEASE_MS, isSlotWanted: () => isSlotWanted, renewSoon: () => undefined };
  return new HeldLane(taken, instantOf(systemClock), new AbortController().signal, host);
}

test('a cancelled wait does not consume the next wake-up', async () => {
  const lane = heldLane();
  const isOver = new AbortController();
  const cancelled = lane.wait(LEASE_MS, isOver.signal);
  isOver.abort();
  expect(await cancelled).toBe(false);
  lane.wake();
  expect(await lane.wait(LEASE_MS)).toBe(true);
});

test('a wake-up between two waits is remembered, and consumed once', async () => {
  const lane = heldLane();
  lane.wake();
  expect(lane.takeWakeUp()).toBe(true);
  expect(lane.takeWakeUp()).toBe(false);
});

test('an empty lane stops lingering when another lane waits for its slot', async () => {
  const lane = heldLane(true);
  expect(lane.isSlotWanted()).toBe(true);
  expect(await lane.linger(LEASE_MS)).toBe(false);
});
