import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { backoffMs } from '../../src/client/backoff.ts';
import { ParleyError } from '../../src/client/errors.ts';
import { TokenStore } from '../../src/client/token.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});
const pass = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1_000);

/** A store of sessions named by their number, each of which lives for so many seconds. */
function sessionsOf(seconds: number, fail: () => Error | undefined = () => undefined): TokenStore {
  let count = 0;
  return new TokenStore(() => {
    const error = fail();
    if (error) throw error;
    return { token: `session ${++count}`, expiresAtMs: Date.now() + seconds * 1_000 };
  });
}

test('a session is replaced a minute before it ends', async () => {
  const tokens = sessionsOf(900);
  expect(await tokens.get()).toBe('session 1');
  pass(839);
  expect(await tokens.get()).toBe('session 1');
  pass(2);
  expect(await tokens.get()).toBe('session 2');
});

test('a session of a minute is used for three quarters of it', async () => {
  const tokens = sessionsOf(60);
  expect(await tokens.get()).toBe('session 1');
  pass(44);
  expect(await tokens.get()).toBe('session 1');
  pass(2);
  expect(await tokens.get()).toBe('session 2');
});

test('a session that has already expired by a wrong clock is used until it is rejected', async () => {
  const tokens = sessionsOf(-3_600);
  expect([await tokens.get(), await tokens.get()]).toEqual(['session 1', 'session 1']);
  expect(await tokens.get('session 1')).toBe('session 2');
});

test('a session that cannot be replaced yet is used to its end', async () => {
  let error: Error | undefined;
  const tokens = sessionsOf(900, () => error);
  await tokens.get();
  error = new TypeError('fetch failed');
  pass(890);
  expect(await tokens.get()).toBe('session 1');
  await expect(tokens.get('session 1')).rejects.toThrow(error);
  pass(11);
  await expect(tokens.get()).rejects.toThrow(error);
});

test('a session whose replacement is refused ends at once', async () => {
  let error: Error | undefined;
  const tokens = sessionsOf(900, () => error);
  await tokens.get();
  error = new ParleyError([{ message: 'Removed.', extensions: { code: 'NOT_FOUND' } }]);
  pass(890);
  await expect(tokens.get()).rejects.toThrow(error);
});

test('the time between attempts grows to at most half a minute', () => {
  for (const failures of [0, 1, 6, 50, 5_000]) {
    const waits = Array.from({ length: 100 }, () => backoffMs(failures));
    const most = Math.min(30_000, 500 * 2 ** failures);
    expect(Math.max(...waits)).toBeLessThanOrEqual(most);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(most / 2);
    expect(new Set(waits).size).toBeGreaterThan(1);
  }
});
