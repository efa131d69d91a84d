import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cap, capRefusal, hourOf, hourRefusal, waitMs } from '../../../src/features/otp/caps.ts';
import { codeFault, codeOf, isMacOf, macOf, newCode } from '../../../src/features/otp/code.ts';
import { createSecretBox } from '../../../src/platform/crypto.ts';

describe('generated codes', () => {
  test('have six digits with leading zeros, and rarely repeat', () => {
    const codes = Array.from({ length: 5_000 }, newCode);
    for (const code of codes) expect(code).toMatch(/^\d{6}$/);
    expect(codes.some(code => code.startsWith('0'))).toBe(true);
    expect(new Set(codes).size).toBeGreaterThan(4_900);
  });
  test('are valid as codes of a caller', () =>
    fc.assert(fc.property(fc.constant(null), () => codeFault(newCode()) === undefined)));
});

test('a code of a caller has 4 to 15 printable ASCII characters and no merge field', () => {
  fc.assert(
    fc.property(
      fc.string({
        maxLength: 20,
        unit: fc.oneof(fc.constantFrom('@', '{', 'é', '\0', '👍'), fc.string({ minLength: 1, maxLength: 1 })),
      }),
      text => {
        const code = codeOf(text);
        const good =
          [...code].every(sign => sign > ' ' && sign <= '~') &&
          code.length >= 4 &&
          code.length <= 15 &&
          !code.includes('@{');
        expect(codeFault(code) === undefined).toBe(good);
      },
    ),
  );
});

test('the stored HMAC of a code depends on its tenant, place, id and the secret key', () => {
  const [box, other] = [7, 8].map(byte => createSecretBox({ current: new Uint8Array(32).fill(byte) }));
  if (!box || !other) throw new Error('There are two boxes.');
  const parts = fc.tuple(fc.nat(99), fc.string(), fc.string(), fc.string(), fc.string());
  const mac = (secrets: typeof box, [tenant, phoneKey, purpose, id, code]: [number, string, string, string, string]) =>
    macOf(secrets, tenant, { phoneKey, purpose }, id, code);
  const verifies = (
    given: Uint8Array,
    secrets: typeof box,
    [tenant, phoneKey, purpose, id, code]: [number, string, string, string, string],
  ) => isMacOf(given, secrets, tenant, { phoneKey, purpose }, id, code);
  fc.assert(
    fc.property(parts, parts, (one, two) => {
      const same = JSON.stringify(one) === JSON.stringify(two);
      expect(verifies(mac(box, one), box, two)).toBe(same);
      expect(verifies(mac(box, one), other, one)).toBe(false);
      expect(verifies(box.shortLivedMac('idempotency', JSON.stringify(one)), box, one)).toBe(false);
    }),
  );
  expect(box.isShortLivedMac('otp', '', new Uint8Array(31))).toBe(false);
});

describe('the wait until a cap allows another use', () => {
  const cap = (max: number): Cap => ({ counter: 'sends', max, windowMs: 1_000, what: 'codes' });
  const iso = (ms: number): string => new Date(ms).toISOString();
  const times = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 12 });

  test('ends exactly when fewer uses than the maximum are in the window', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 5 }), (instants, max) => {
        const now = 3_000;
        const wait = waitMs(cap(max), instants.map(iso), now);
        const left = (at: number): number => instants.filter(instant => instant > at - 1_000).length;
        expect(left(now + wait)).toBeLessThan(max);
        if (wait > 0) expect(left(now + wait - 1)).toBeGreaterThanOrEqual(max);
      }),
    );
  });

  test('is reported in whole seconds, rounded up, for the cap with the longest wait', () => {
    const use = { sends: [iso(0), iso(1)], resends: [iso(0)], verifications: [], failures: [], now: iso(1_000) };
    const caps: Cap[] = [
      { ...cap(2), windowMs: 61_500 },
      { counter: 'resends', max: 1, windowMs: 5_000, what: 'codes' },
    ];
    expect(capRefusal(caps, use).details).toEqual({ retry_after: 61, limit: 2 });
    const late = Date.parse('2026-11-21T04:59:59.500Z');
    expect(hourOf(late)).toBe('2026-11-21T04:00:00.000Z');
    expect(hourRefusal(7, late).details).toEqual({ retry_after: 1, limit: 7 });
  });
});
