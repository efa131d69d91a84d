import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPairLimit, createThroughputLimit } from '../../../../src/emulator/rate-limits.ts';
import { LaneMemory } from '../../../../src/features/messages/dispatch/lane-memory.ts';
import { Pacing, TokenBucket } from '../../../../src/features/messages/dispatch/pacing.ts';
import { MINUTE, SECOND } from '../../../../src/platform/clock.ts';

/** Pauses between attempts, from a burst to a slow chat. */
const pauses = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 8_000 }), fc.integer({ min: 0, max: 400_000 })),
  { minLength: 1, maxLength: 200 },
);

describe('to one person', () => {
  test('the network never refuses what the pacing allows, and the pacing waits at most a second more than needed', () => {
    fc.assert(
      fc.property(
        pauses,
        fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 200, maxLength: 200 }),
        (steps, journeys) => {
          let departure = 1_000_000;
          let arrival = 0;
          const network = createPairLimit({ now: () => arrival });
          const pacing = new Pacing(80, departure);
          for (const [index, step] of steps.entries()) {
            departure += step;
            let waited = 0;
            for (let wait = pacing.takePair(7, departure); wait > 0; wait = pacing.takePair(7, departure)) {
              departure += wait;
              waited += wait;
            }
            expect(waited).toBeLessThanOrEqual(46 * 6 * SECOND);
            // One message to a person is under way at a time, so they arrive in their order.
            arrival = Math.max(arrival, departure + (journeys[index] ?? 0));
            expect(network.take('7')).toBe(true);
            departure = Math.max(departure, arrival);
          }
        },
      ),
    );
  });

  test('a burst of 45 is sent immediately, the next message when the bucket is refilled', () => {
    const pacing = new Pacing(80, 0);
    for (let index = 0; index < 45; index += 1) expect(pacing.takePair(1, index)).toBe(0);
    expect(Math.abs(pacing.takePair(1, 45) - 45 * 6 * SECOND)).toBeLessThan(SECOND);
    expect(pacing.takePair(2, 45)).toBe(0);
  });

  test('buckets of more than ten thousand contacts are dropped when they are full again', () => {
    const pacing = new Pacing(80, 0);
    for (let person = 0; person < 25_000; person += 1) expect(pacing.takePair(person, person * 10)).toBe(0);
    expect(pacing.takePair(24_999, 250_010)).toBe(0);
  });
});

describe('of a channel', () => {
  test('a sender that asks the bucket never exceeds the network’s limit of the same rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 300 }),
        (rate, steps) => {
          let now = 0;
          const network = createThroughputLimit({ now: () => now }, () => rate);
          const { channel } = new Pacing(rate, now);
          for (const step of steps) {
            now += step;
            for (let room = channel.available(now); room > 0; room -= 1) {
              expect(channel.take(now)).toBe(true);
              expect(network.take('number')).toBe(true);
            }
          }
        },
      ),
    );
  });

  test('a bucket never exceeds its rate and burst, reports exact waits, and is monotonic', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 200 }),
        (rate, burst, steps) => {
          const bucket = new TokenBucket(rate, burst, 0);
          let [now, taken] = [0, 0];
          for (const step of steps) {
            now += step;
            while (bucket.take(now)) taken += 1;
            expect(taken).toBeLessThanOrEqual(burst + (now * rate) / SECOND + 1e-6);
            const wait = bucket.waitMs(now);
            expect(wait).toBeGreaterThan(0);
            now += wait;
            expect(bucket.take(now)).toBe(true);
            taken += 1;
          }
        },
      ),
    );
  });
});

describe('the circuit breaker of a lane', () => {
  /** An instant by clocks that agree. */
  const at = (ms: number) => ({ wallMs: ms, monotonicMs: ms });

  test('holds longer with every consecutive failure, up to the requested time, and is closed by a success', () => {
    const memory = new LaneMemory();
    let now = 0;
    const holds = [1, 2, 3, 4, 5].map(() => {
      memory.hold(20 * SECOND, 'briefly', 'a fault', at(now));
      const ms = memory.holdMs(at(now));
      now += ms;
      expect(memory.holdMs(at(now))).toBe(0);
      return ms / SECOND;
    });
    expect(holds).toEqual([2, 4, 8, 16, 20]);
    memory.succeeded();
    memory.hold(20 * SECOND, 'briefly', 'a fault', at(now));
    expect(memory.holdMs(at(now))).toBe(2 * SECOND);
  });

  test('lasts as long as the network requires; a later, shorter requirement does not shorten it', () => {
    const memory = new LaneMemory();
    memory.hold(10 * MINUTE, 'throughout', 'a fault', at(0));
    memory.hold(SECOND, 'briefly', 'a fault', at(0));
    memory.succeeded();
    expect([memory.holdMs(at(0)), memory.holdMs(at(9 * MINUTE)), memory.holdMs(at(10 * MINUTE))]).toEqual([
      10 * MINUTE,
      MINUTE,
      0,
    ]);
  });

  test('ends by the clock that says it first: one may be set back, the other stops while the machine is suspended', () => {
    const memory = new LaneMemory();
    memory.hold(10 * MINUTE, 'throughout', 'a fault', at(0));
    expect(memory.holdMs({ wallMs: -60 * MINUTE, monotonicMs: 4 * MINUTE })).toBe(6 * MINUTE);
    expect(memory.holdMs({ wallMs: 4 * MINUTE, monotonicMs: 0 })).toBe(6 * MINUTE);
    memory.hold(SECOND, 'briefly', 'a fault', { wallMs: -60 * MINUTE, monotonicMs: 4 * MINUTE });
    expect(memory.holdMs({ wallMs: -55 * MINUTE, monotonicMs: 9 * MINUTE })).toBe(MINUTE);
    expect(memory.holdMs({ wallMs: -54 * MINUTE, monotonicMs: 10 * MINUTE })).toBe(0);
  });

  test('buckets survive a turn of the lane, unless the channel’s rate changes', () => {
    const memory = new LaneMemory();
    expect(memory.pacing(80, 0)).toBe(memory.pacing(80, 1_000));
    expect(memory.pacing(80, 0)).not.toBe(memory.pacing(40, 0));
  });
});
