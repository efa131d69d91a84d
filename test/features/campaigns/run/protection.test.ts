import { expect, test } from 'vitest';
import {
  accountStop,
  failureStop,
  isWaveOver,
  limitStop,
  stopOf,
  waveSizeOf,
} from '../../../../src/features/campaigns/run/protection.ts';

const RUN = {
  total: 1_000,
  pending: 900,
  skipped: 0,
  first_wave_seconds: 300,
  wave_ended_at: '2026-01-01T00:00:00.000Z',
  failed_before: 0,
  settled_before: 0,
  max_failure_percent: 20,
  is_wave_passed: false,
};
const progress = (delivered: number, failed: number, cancelled = 0) => ({
  sent: delivered,
  delivered,
  failed,
  cancelled,
});

test('the first wave is what was given, else 100 or 1 %', () => {
  expect([waveSizeOf(7, 1_000_000), waveSizeOf(null, 50), waveSizeOf(null, 1_000_000)]).toEqual([7, 100, 10_000]);
});

test('the first wave is over when all outcomes are known, or after its time', () => {
  const soon = Date.parse(RUN.wave_ended_at) + 1_000;
  expect(isWaveOver(RUN, progress(50, 49), soon)).toBe(false);
  expect(isWaveOver(RUN, progress(51, 49), soon)).toBe(true);
  expect(isWaveOver(RUN, progress(41, 49, 10), soon)).toBe(true);
  expect(isWaveOver(RUN, progress(0, 0), soon + 300_000)).toBe(true);
});

test('a campaign pauses exactly when the share of failures since it was resumed exceeds the maximum', () => {
  for (let percent = 1; percent <= 100; percent += 9)
    for (let delivered = 0; delivered <= 60; delivered += 7)
      for (let failed = 0; failed <= 60; failed += 3) {
        const before = { failed_before: 5, settled_before: 11 };
        const run = { ...RUN, ...before, max_failure_percent: percent, is_wave_passed: true };
        const stop = failureStop(run, progress(delivered + 6, failed + 5), false);
        const isTooMuch = delivered + failed >= 20 && failed / (delivered + failed) > percent / 100;
        expect(stop?.code).toBe(isTooMuch ? 'FAILURES' : undefined);
      }
});

test('a first wave of any size is judged', () => {
  expect(failureStop(RUN, progress(0, 1), true)?.code).toBe('FIRST_WAVE');
  expect(failureStop(RUN, progress(0, 1), false)).toBeUndefined();
});

test('the channel, the quality of the number and what the network refused stop it, with the reason', () => {
  const standing = {
    channel_id: 1,
    channel_status: 'active' as const,
    channel_reason: null,
    messages_per_second: 80,
    portfolio_id: null,
    quality: 'GREEN',
    messaging_limit: null,
    account_status: null,
    restrictions: null,
    sent: 0,
    delivered: 0,
    failed: 0,
    cancelled: 0,
    stop_code: null,
  };
  expect(stopOf(standing)).toBeUndefined();
  const codeOf = (change: object) => stopOf({ ...standing, ...change });
  expect(codeOf({ channel_status: 'paused', channel_reason: '131048 Spam rate limit hit' })).toEqual({
    how: 'pause',
    code: 'CHANNEL_PAUSED',
    details: 'The channel is paused: 131048 Spam rate limit hit.',
  });
  // The reason of a pause by hand is a sentence.
  expect(codeOf({ channel_status: 'paused', channel_reason: 'Paused by the account.' })?.details).toBe(
    'The channel is paused: Paused by the account.',
  );
  expect(codeOf({ channel_status: 'disconnected' })).toMatchObject({ how: 'fail', code: 'CHANNEL_DISCONNECTED' });
  expect(codeOf({ channel_id: null, channel_status: null })).toMatchObject({ how: 'fail' });
  expect(codeOf({ quality: 'RED' })).toMatchObject({ how: 'pause', code: 'QUALITY_RED' });
  for (const code of [368, 131_042, 131_048])
    expect(codeOf({ stop_code: code })).toMatchObject({ how: 'pause', code: 'NETWORK_REFUSED' });
});

test('it stops before the daily limit of the portfolio is reached', () => {
  expect([limitStop(null, 1_000_000), limitStop(1_000, 949)]).toEqual([undefined, undefined]);
  expect(limitStop(1_000, 950)?.code).toBe('DAILY_LIMIT');
});

test('an account that is closed or restricted stops it, as long as that lasts and for the templates that it concerns', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  const restricted = (type: string, expires_at: string | null = null) => ({
    account_status: 'RESTRICTED',
    restrictions: [{ type, expires_at, remediation: null }],
  });
  for (const status of ['DISABLE', 'DELETED', 'OFFBOARDED', 'PARTNER_REMOVED', 'PARTNER_APP_UNINSTALLED'])
    expect(accountStop({ account_status: status, restrictions: [] }, 'marketing', nowMs)).toMatchObject({
      how: 'pause',
      code: 'ACCOUNT_RESTRICTED',
    });
  for (const status of [null, 'ACTIVE', 'SCHEDULE_FOR_DISABLE', 'RESTRICTED'])
    expect(accountStop({ account_status: status, restrictions: null }, 'marketing', nowMs)).toBeUndefined();
  const initiated = 'RESTRICTED_BIZ_INITIATED_MESSAGING';
  expect(accountStop(restricted(initiated, '2026-01-02T00:00:00.000Z'), 'utility', nowMs)?.details).toBe(
    `The network has restricted the account until 2026-01-02T00:00:00.000Z (${initiated}).`,
  );
  expect(accountStop(restricted(initiated, '2026-01-01T00:00:00.000Z'), 'utility', nowMs)).toBeUndefined();
  expect(accountStop(restricted('RESTRICTED_UTILITY_TEMPLATES'), 'utility', nowMs)).toBeDefined();
  expect(accountStop(restricted('RESTRICTED_UTILITY_TEMPLATES'), 'marketing', nowMs)).toBeUndefined();
  expect(accountStop(restricted('RESTRICTED_ADD_PHONE_NUMBER_ACTION'), 'utility', nowMs)).toBeUndefined();
});
