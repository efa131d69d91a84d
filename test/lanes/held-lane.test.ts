import { expect, test } from 'vitest';
import { HeldLane } from '../../src/lanes/held-lane.ts';
import { instantOf, systemClock } from '../../src/platform/clock.ts';

const LEASE_MS = 60_000;

function heldLane(othersWait = false): HeldLane {
  const taken = { queue: 'outbox', tenant_id: 1, key: '1:1', epoch: 1, is_takeover: false };
  const host = { clock: systemClock, leaseMs: LEASE_MS, othersWait: () => othersWait, renewSoon: () => undefined };
  return new HeldLane(taken, instantOf(systemClock), new AbortController().signal, host);
}

test('a wait that was cancelled swallows no wake-up', async () => {
  const lane = heldLane();
  const isOver = new AbortController();
  const cancelled = lane.wait(LEASE_MS, isOver.signal);
  isOver.abort();
  expect(await cancelled).toBe(false);
  lane.poke();
  expect(await lane.wait(LEASE_MS)).toBe(true);
});

test('a wake-up between two waits is kept, and taken once', async () => {
  const lane = heldLane();
  lane.poke();
  expect(lane.takePoke()).toBe(true);
  expect(lane.takePoke()).toBe(false);
});

test('an empty lane waits no longer than others want its place', async () => {
  const lane = heldLane(true);
  expect(lane.isPlaceWanted()).toBe(true);
  expect(await lane.linger(LEASE_MS)).toBe(false);
});
