import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sign, verifySignature } from '../../../src/network/cloud-api/signature.ts';

const bytes = fc.uint8Array({ maxLength: 300 }).map(array => Buffer.from(array));
const secret = fc.string({ minLength: 1 });

describe('X-Hub-Signature-256', () => {
  test('is the lowercase hex HMAC-SHA256 of the body, with its prefix', () => {
    const body = Buffer.from('{"a":1}');
    expect(sign(body, 's')).toBe(`sha256=${createHmac('sha256', 's').update(body).digest('hex')}`);
  });

  test('is accepted for arbitrary bytes', () => {
    fc.assert(fc.property(bytes, secret, (body, key) => verifySignature(body, sign(body, key), [key])));
  });

  test('is accepted with any of several secrets, except an empty one', () => {
    const body = Buffer.from('x');
    expect(verifySignature(body, sign(body, 'old'), ['new', 'old'])).toBe(true);
    expect(verifySignature(body, sign(body, 'other'), ['new', 'old'])).toBe(false);
    expect(verifySignature(body, sign(body, ''), [''])).toBe(false);
    expect(verifySignature(body, sign(body, 'x'), [])).toBe(false);
  });

  test('is rejected if one bit of the body differs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), secret, (array, at, key) => {
        const header = sign(Buffer.from(array), key);
        const changed = Buffer.from(array);
        const index = at % changed.length;
        changed[index] = (changed[index] ?? 0) ^ 1;
        expect(verifySignature(changed, header, [key])).toBe(false);
      }),
    );
  });

  test('covers the network’s JSON escapes: a re-serialized body has another signature', () => {
    const raw = Buffer.from('{"text":"Ol\\u00e1 https:\\/\\/example.org"}');
    const header = sign(raw, 's');
    expect(verifySignature(raw, header, ['s'])).toBe(true);
    expect(verifySignature(Buffer.from(JSON.stringify(JSON.parse(raw.toString()))), header, ['s'])).toBe(false);
  });

  test('is rejected in any other format, without throwing', () => {
    const good = sign(Buffer.from(''), 's');
    for (const header of [
      undefined,
      '',
      'sha256=',
      good.toUpperCase(),
      good.slice(7),
      good.slice(0, -1),
      `${good}0`,
      `sha1=${good.slice(7)}`,
    ]) {
      expect(verifySignature(Buffer.from(''), header, ['s'])).toBe(false);
    }
    fc.assert(fc.property(fc.string(), header => !verifySignature(Buffer.from('x'), header, ['s'])));
  });
});
