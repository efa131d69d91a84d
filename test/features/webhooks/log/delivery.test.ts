import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RESPONSE_BYTES, storableText } from '../../../../src/features/webhooks/log/delivery.ts';
import { isStorable } from '../../../../src/platform/text.ts';

test('any response body can be stored', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: RESPONSE_BYTES }), bytes => {
      expect(isStorable(storableText(Buffer.from(bytes)))).toBe(true);
    }),
  );
  const cut = Buffer.from(`${'x'.repeat(RESPONSE_BYTES - 2)}€`).subarray(0, RESPONSE_BYTES);
  expect(storableText(cut)).toBe('x'.repeat(RESPONSE_BYTES - 2));
  expect(storableText(Buffer.from('a\0b'))).toBe('ab');
});
