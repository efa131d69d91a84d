import { execFileSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { releaseMemoryWhenIdle } from '../../src/platform/garbage-collection.ts';

describe('memory is released', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** Runs the checks. @returns what tells the releases after a number of further checks with this utilization */
  function checks() {
    const utilization = vi.spyOn(performance, 'eventLoopUtilization');
    const release = vi.fn();
    const stop = releaseMemoryWhenIdle(1_000, release);
    const releasesAfter = (count: number, share: number): number => {
      utilization.mockReturnValue({ utilization: share, idle: 0, active: 0 });
      vi.advanceTimersByTime(count * 1_000);
      return release.mock.calls.length;
    };
    return { releasesAfter, stop };
  }
  const [BUSY, IDLE] = [0.9, 0.02];

  test('after the start as soon as a check is idle, and once after each busy time when sixty have been', () => {
    const { releasesAfter, stop } = checks();
    expect(releasesAfter(2, BUSY)).toBe(0);
    expect(releasesAfter(1, IDLE)).toBe(1);
    expect(releasesAfter(100, IDLE)).toBe(1);
    expect(releasesAfter(1, BUSY)).toBe(1);
    expect(releasesAfter(59, IDLE)).toBe(1);
    expect(releasesAfter(1, IDLE)).toBe(2);
    expect(releasesAfter(100, IDLE)).toBe(2);
    expect(releasesAfter(1, BUSY)).toBe(2);
    expect(releasesAfter(59, IDLE)).toBe(2);
    expect(releasesAfter(1, BUSY)).toBe(2);
    expect(releasesAfter(59, IDLE)).toBe(2);
    stop();
    expect(releasesAfter(100, IDLE)).toBe(2);
  });

  test('of a process that had requests from its start, when sixty checks were idle', () => {
    const { releasesAfter, stop } = checks();
    expect(releasesAfter(6, BUSY)).toBe(0);
    expect(releasesAfter(59, IDLE)).toBe(0);
    expect(releasesAfter(1, IDLE)).toBe(1);
    stop();
  });
});

test('the young generation of a process that was busy becomes small when it idles', () => {
  const module = new URL('../../src/platform/garbage-collection.ts', import.meta.url).href;
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { releaseMemoryWhenIdle } from ${JSON.stringify(module)};
    const youngMb = () => getHeapSpaceStatistics().find(space => space.space_name === 'new_space').physical_space_size / 2 ** 20;
    // Much survives each minor collection, so that V8 lets the young generation grow.
    const kept = [];
    for (let n = 0; n < 3_000_000; n += 1) kept[n % 300_000] = { n, text: 'text ' + n };
    const before = youngMb();
    const stop = releaseMemoryWhenIdle(100);
    const check = setInterval(() => {
      if (youngMb() > before / 4) return;
      clearInterval(check);
      stop();
      console.log(JSON.stringify({ before, after: youngMb() }));
    }, 50);
  `;
  const { before, after } = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8', timeout: 60_000 }),
  ) as { before: number; after: number };
  expect(before).toBeGreaterThan(8);
  expect(after).toBeLessThan(4);
});
