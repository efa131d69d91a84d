import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signUrl, verifySigned } from '../../../../../src/features/messages/content/media/signed-url.ts';
import { createSecretBox } from '../../../../../src/platform/crypto.ts';

const MINUTE = 60_000;
const [current, previous] = [randomBytes(32), randomBytes(32)];
const secrets = createSecretBox({ current });
const tokenOf = (url: string): string => url.split('/').at(-1) ?? '';

const ref = fc.record({ tenantId: fc.integer({ min: 1, max: 2 ** 47 }), id: fc.uuid() });
const time = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2100) });

test('a signed URL names its file for 15 to 30 minutes, and nothing after', () => {
  fc.assert(
    fc.property(ref, time, (file, nowMs) => {
      const { url, expiresAtMs } = signUrl(secrets, file, nowMs);
      expect(expiresAtMs - nowMs).toBeGreaterThan(15 * MINUTE - 1);
      expect(expiresAtMs - nowMs).toBeLessThanOrEqual(30 * MINUTE);
      expect(verifySigned(secrets, tokenOf(url), nowMs)).toEqual({ ...file, expiresAtMs });
      expect(verifySigned(secrets, tokenOf(url), expiresAtMs - 1)).toEqual({ ...file, expiresAtMs });
      expect(verifySigned(secrets, tokenOf(url), expiresAtMs)).toBeUndefined();
    }),
  );
});

test('within a quarter of an hour a file has one URL, and another in the next', () => {
  const file = { tenantId: 1, id: randomUUID() };
  const quarter = Date.UTC(2026, 0, 1, 12);
  const at = (minutes: number): string => signUrl(secrets, file, quarter + minutes * MINUTE).url;
  expect(at(14.99)).toBe(at(0));
  expect(at(15)).not.toBe(at(0));
});

test('a changed character, another spelling and another label of the same bytes are not accepted', () => {
  fc.assert(
    fc.property(ref, time, fc.nat(), fc.constantFrom('A', '_', '=', '%', '.'), (file, nowMs, place, character) => {
      const token = tokenOf(signUrl(secrets, file, nowMs).url);
      const at = place % token.length;
      const changed = `${token.slice(0, at)}${character}${token.slice(at + 1)}`;
      fc.pre(changed !== token);
      for (const other of [changed, `${token}=`, `${token}A`, token.slice(1), ''])
        expect(verifySigned(secrets, other, nowMs)).toBeUndefined();
    }),
  );
});

test('during a rotation of the secret key, URLs of both keys are valid; after it, those of the new key', () => {
  const file = { tenantId: 1, id: randomUUID() };
  const now = Date.now();
  const token = tokenOf(signUrl(createSecretBox({ current: previous }), file, now).url);
  expect(verifySigned(createSecretBox({ current, previous }), token, now)).toMatchObject(file);
  expect(verifySigned(secrets, token, now)).toBeUndefined();
});

test('the URL is absolute if the public address is known', () => {
  const file = { tenantId: 1, id: randomUUID() };
  expect(signUrl(secrets, file, Date.now(), 'https://parley.example').url).toMatch(
    /^https:\/\/parley\.example\/media\/signed\/[\w-]{78}$/,
  );
});
