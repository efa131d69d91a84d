import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeGlobalId, encodeGlobalId, inputId, requireId, requireUuid } from '../../src/core/global-ids.ts';
import { idFor, isUuid, newId } from '../../src/core/ids.ts';
import { isoTimestamp, typeParsers } from '../../src/database/database.ts';
import { type ColumnType, decodeCursor, encodeCursor, escapeLike } from '../../src/database/list-sql.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { parseJson, parseStorable } from '../../src/platform/json.ts';
import { isLonger, isStorable, lengthOf } from '../../src/platform/text.ts';
import { merged, type Selection } from '../../src/schema/selection.ts';

describe('global ids', () => {
  const type = fc.string({ unit: fc.constantFrom(...'ABCabcXYZ'), minLength: 1, maxLength: 20 });

  test('survive encoding and decoding', () => {
    fc.assert(
      fc.property(type, fc.nat(), fc.oneof(fc.maxSafeNat().map(String), fc.uuid()), (typename, tenantId, id) => {
        expect(decodeGlobalId(encodeGlobalId(typename, tenantId, id))).toEqual({ typename, tenantId, id });
      }),
    );
  });

  test('are accepted only for their own type, as is the bare id', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), id => {
        expect([
          requireId(7, 'Contact', encodeGlobalId('Contact', 7, id)),
          requireId(7, 'Contact', String(id)),
          inputId(7, 'Contact', String(id), 'x'),
        ]).toEqual([id, id, id]);
        expect(() => requireId(7, 'Contact', encodeGlobalId('Group', 7, id))).toThrow('Contact not found.');
        // Of another account.
        expect(() => requireId(8, 'Contact', encodeGlobalId('Contact', 7, id))).toThrow('Contact not found.');
        expect(() => inputId(7, 'Contact', encodeGlobalId('Group', 7, id), 'x')).toThrow(
          'This is not the id of a Contact.',
        );
      }),
    );
    fc.assert(
      fc.property(fc.uuid(), id => {
        expect([
          requireUuid(7, 'Message', encodeGlobalId('Message', 7, id)),
          requireUuid(7, 'Message', id.toUpperCase()),
        ]).toEqual([id, id]);
      }),
    );
  });

  test('a bare id is never decoded as a global id', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat().map(String), fc.uuid()), text => decodeGlobalId(text) === undefined),
      // This UUID is also valid base64 of `sn:…`.
      { examples: [['c246d1e0-79b7-4df3-8fed-0afd3a8d2e90']] },
    );
  });

  test('reading arbitrary text as an id fails only with NOT_FOUND', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map(text => encodeGlobalId('Contact', 7, text)),
          fc.base64String(),
        ),
        text => {
          for (const read of [() => requireId(7, 'Contact', text), () => requireUuid(7, 'Contact', text)]) {
            try {
              const id = read();
              expect(typeof id === 'number' ? Number.isSafeInteger(id) && id >= 0 : isUuid(id)).toBe(true);
            } catch (error) {
              expect(error).toMatchObject({ code: 'NOT_FOUND' });
            }
          }
        },
      ),
    );
  });
});

describe('cursors', () => {
  const columnsOf = (types: readonly ColumnType[]) => types.map(type => ({ type }));
  const values: Record<ColumnType, fc.Arbitrary<unknown>> = {
    bigint: fc.maxSafeInteger(),
    integer: fc.integer(),
    smallint: fc.integer({ min: -32_768, max: 32_767 }),
    text: fc.string({ unit: 'grapheme' }).filter(isStorable),
    uuid: fc.uuid(),
    boolean: fc.boolean(),
    timestamptz: fc
      .date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
      .map(date => date.toISOString()),
  };
  const typed = fc
    .array(fc.constantFrom(...(Object.keys(values) as ColumnType[])), { minLength: 1, maxLength: 5 })
    .chain(types => fc.tuple(fc.constant(types), fc.tuple(...types.map(type => values[type]))));

  test('survive encoding and decoding, and are valid only for their own order', () => {
    fc.assert(
      fc.property(typed, fc.string(), fc.string(), ([types, row], order, other) => {
        const cursor = encodeCursor(order, row);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(decodeCursor(cursor, order, columnsOf(types))).toEqual(row);
        if (other !== order) expect(decodeCursor(cursor, other, columnsOf(types))).toBeUndefined();
        expect(decodeCursor(cursor, order, columnsOf([...types, 'bigint']))).toBeUndefined();
        expect(decodeCursor(cursor, order, columnsOf(types.slice(1)))).toBeUndefined();
      }),
    );
  });

  test('with forged content are accepted only with values that the columns can have', () => {
    fc.assert(
      fc.property(fc.constantFrom(...(Object.keys(values) as ColumnType[])), fc.jsonValue(), (type, value) => {
        const [decoded] = decodeCursor(encodeCursor('o', [value]), 'o', columnsOf([type])) ?? [];
        if (decoded === undefined) return;
        expect(typeof decoded).toBe(
          { bigint: 'number', integer: 'number', smallint: 'number', boolean: 'boolean' }[type as string] ?? 'string',
        );
      }),
    );
    fc.assert(fc.property(fc.string(), text => void decodeCursor(text, 'o', columnsOf(['text']))));
  });

  test.each([
    '2026-02-30T00:00:00Z',
    '0001-01-01T00:00:00+05:00',
    '9999-12-31T23:00:00-05:00',
    '2026-01-01T00:00:00:00Z',
  ])('with the impossible timestamp %s are rejected', text => {
    expect(decodeCursor(encodeCursor('o', [text]), 'o', columnsOf(['timestamptz']))).toBeUndefined();
  });

  test('with timestamps as PostgreSQL formats them are accepted', () => {
    for (const text of ['2026-01-31T07:58:39.123456+00:00', '2026-01-31T07:58:39Z'])
      expect(decodeCursor(encodeCursor('o', [text]), 'o', columnsOf(['timestamptz']))).toEqual([text]);
  });
});

test('LIKE matches escaped text only literally', () => {
  /** LIKE as in the SQL standard, with the backslash as escape character. */
  const like = (pattern: string): RegExp =>
    new RegExp(
      `^${[...pattern.matchAll(/\\(.)|(%)|(_)|([\s\S])/gu)].map(([, escaped, any, one, plain]) => (any ? '[\\s\\S]*' : one ? '[\\s\\S]' : `\\u{${(escaped ?? plain ?? '').codePointAt(0)?.toString(16)}}`)).join('')}$`,
      'u',
    );
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '%', '_', '\\', '👍') });
  fc.assert(fc.property(text, text, (wanted, found) => like(escapeLike(wanted)).test(found) === (wanted === found)));
});

describe('a secret box', () => {
  const box = createSecretBox({ current: new Uint8Array(32).fill(7) });

  test('opens its own seals, and seals the same secret differently each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), secret => {
        const [one, two] = [box.seal(secret), box.seal(secret)];
        expect([box.open(one), box.open(new Uint8Array(two))]).toEqual([secret, secret]);
        expect(one.equals(two)).toBe(false);
        if (secret.length > 3) expect(one.includes(secret)).toBe(false);
      }),
    );
  });

  test('rejects values with a changed bit, truncated or extended values, and those sealed under another key', () => {
    const other = createSecretBox({ current: new Uint8Array(32).fill(8) });
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.nat(), fc.nat(7), (secret, at, bit) => {
        const sealed = box.seal(secret);
        const changed = Buffer.from(sealed);
        changed[at % sealed.length] = (changed[at % sealed.length] ?? 0) ^ (1 << bit);
        expect(() => box.open(changed)).toThrow();
        expect(() => box.open(sealed.subarray(0, at % sealed.length))).toThrow();
        expect(() => box.open(Buffer.concat([sealed, Buffer.of(at % 256)]))).toThrow();
        expect(() => other.open(sealed)).toThrow();
      }),
      { numRuns: 300 },
    );
  });

  test.each([0, 16, 31, 33])('rejects a key of %i bytes', length =>
    expect(() => createSecretBox({ current: new Uint8Array(length) })).toThrow(RangeError),
  );
});

describe('ids', () => {
  test('derived from an instant and a name are deterministic UUIDv7s that sort by the instant', () => {
    const at = fc.integer({ min: 0, max: 2 ** 47 });
    fc.assert(
      fc.property(at, at, fc.string(), fc.string(), (one, two, a, b) => {
        const id = idFor(one, a);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(idFor(one, a)).toBe(id);
        if (a !== b) expect(idFor(one, b)).not.toBe(id);
        if (one < two) expect(id < idFor(two, b)).toBe(true);
      }),
    );
  });

  test('generated one after the other sort in that order, and are unique', () => {
    const ids = Array.from({ length: 5_000 }, newId);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('selections of the same field are merged, in any order', () => {
  const { selection } = fc.letrec<{ selection: Selection }>(tie => ({
    selection: fc.oneof(
      { maxDepth: 4 },
      fc.constant(new Map() as Selection),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), tie('selection')), { maxLength: 3 })
        .map(entries => new Map(entries) as Selection),
    ),
  }));
  const paths = (one: Selection, above = ''): string[] =>
    [...one].flatMap(([name, below]) => [`${above}.${name}`, ...paths(below, `${above}.${name}`)]);
  fc.assert(
    fc.property(selection, selection, (one, two) => {
      const both = new Set([...paths(one), ...paths(two)]);
      expect(new Set(paths(merged(one, two)))).toEqual(both);
      expect(new Set(paths(merged(two, one)))).toEqual(both);
      expect(merged(undefined, one)).toEqual(one);
    }),
  );
});

test('int8 is a number, alone and in arrays', () => {
  const [int8, int8Array] = [20, 1016].map(oid => typeParsers.getTypeParser(oid, 'text'));
  expect(int8?.('12')).toBe(12);
  expect(int8Array?.('{}')).toEqual([]);
  expect(int8Array?.('{12,NULL,9007199254740991}')).toEqual([12, null, 9_007_199_254_740_991]);
});

test('isoTimestamp preserves the instant of a PostgreSQL timestamp', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
      date => {
        const iso = date.toISOString();
        const written = `${iso.slice(0, 10)} ${iso.slice(11, 23).replace(/\.?0*$/, match => (match.startsWith('.') ? '' : match.replace(/0+$/, '')))}+00`;
        const printed = iso.endsWith('.000Z') ? `${iso.slice(0, 10)} ${iso.slice(11, 19)}+00` : written;
        expect(isoTimestamp(printed)).toBe(iso);
      },
    ),
  );
  for (const text of ['infinity', '-infinity', '2026-01-01 10:00:00+02']) expect(isoTimestamp(text)).toBe(text);
});

test('text length counts code points, and unstorable text is detected', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      text => lengthOf(text) <= text.length && (text.length < 100 || lengthOf(text) === [...text].length),
    ),
  );
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.nat(300),
      (text, max) => isLonger(text, max) === [...text].length > max,
    ),
  );
  expect(['a', '👍', ''].map(isStorable)).toEqual([true, true, true]);
  expect(['\0', 'a\0b', '\ud83d', '\udc4d a'].map(isStorable)).toEqual([false, false, false, false]);
});

test('parseStorable differs from parseJson only where a text or a name cannot be stored', () => {
  const odd = fc.constantFrom('\0', 'a\0b', '\ud83d', '\udc4d a', '\\u0000', '__proto__');
  const text = fc.oneof(fc.string({ unit: 'binary' }), odd);
  const json = fc.letrec(tie => ({
    any: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.array(tie('any')), fc.dictionary(text, tie('any'))),
  })).any;
  const textsOf = (value: unknown): string[] =>
    typeof value === 'object' && value !== null
      ? [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(textsOf)]
      : typeof value === 'string'
        ? [value]
        : [];
  fc.assert(
    fc.property(json, value => {
      const written = JSON.stringify(value);
      const read = parseStorable(written);
      expect(textsOf(read).every(isStorable)).toBe(true);
      if (textsOf(value).every(isStorable)) expect(read).toEqual(parseJson(written));
    }),
  );
  expect(parseStorable('{"a":"x\\u0000y","b\\ud83d":["\\udc4d"]}')).toEqual({ a: 'xy', 'b\ufffd': ['\ufffd'] });
  expect(['', '{', '{"a":"\\u0000"'].map(parseStorable)).toEqual([undefined, undefined, undefined]);
  const nested = (depth: number): string => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;
  expect(parseStorable(nested(200))).toEqual(parseJson(nested(200)));
  expect([nested(202), `[${nested(202)},"\\u0000"]`].map(parseStorable)).toEqual([undefined, undefined]);
});
