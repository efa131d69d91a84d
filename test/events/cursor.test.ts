import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cursor, decodeCursor, encodeCursor, isAfter } from '../../src/events/cursor.ts';

const cursors: fc.Arbitrary<Cursor> = fc.record({
  xid: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  seq: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
});

test('a cursor survives encoding and decoding', () => {
  fc.assert(
    fc.property(cursors, cursor => {
      expect(decodeCursor(encodeCursor(cursor, 0))).toEqual({ cursor, generation: 0 });
      expect(decodeCursor(encodeCursor(cursor, 7))).toEqual({ cursor, generation: 7 });
    }),
  );
});

test('positions in the log are totally ordered', () => {
  fc.assert(
    fc.property(cursors, cursors, cursors, (a, b, c) => {
      expect([isAfter(a, b), isAfter(b, a)].filter(Boolean)).toHaveLength(a.xid === b.xid && a.seq === b.seq ? 0 : 1);
      if (isAfter(a, b) && isAfter(b, c)) expect(isAfter(a, c)).toBe(true);
    }),
  );
});

test('decoding arbitrary text returns a valid position or undefined, and never throws', () => {
  const made = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map(text => Buffer.from(text).toString('base64url')),
    fc
      .tuple(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.bigInt({ min: -(2n ** 60n), max: 2n ** 70n }))
      .map(([xid, seq]) => Buffer.from(`e:${xid}:${seq}`).toString('base64url')),
  );
  fc.assert(
    fc.property(made, text => {
      const cursor = decodeCursor(text)?.cursor;
      if (!cursor) return;
      expect(cursor.xid >= 0n && cursor.xid < 2n ** 64n).toBe(true);
      expect(Number.isFinite(cursor.seq) && cursor.seq >= 0 && cursor.seq < 2 ** 63).toBe(true);
    }),
  );
});
