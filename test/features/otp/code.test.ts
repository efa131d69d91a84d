import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
