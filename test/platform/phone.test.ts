import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePhone, parsePhoneIn, phoneKey, spellingsOfKey } from '../../src/platform/phone.ts';

/** Numbers of real numbering plans, by country code and national digits. */
const PLANS = [
  ['49', '1512345', 4],
  ['1', '415555', 4],
  ['44', '79460', 5],
  ['91', '98765', 5],
  ['33', '6123', 5],
  ['86', '1381234', 4],
  ['971', '50123', 4],
  ['27', '8212', 5],
  ['65', '8123', 4],
] as const;

const number = fc.tuple(fc.constantFrom(...PLANS), fc.nat(99_999)).map(([[country, start, digits], rest]) => ({
  country,
  national: start + String(rest).padStart(5, '0').slice(-digits),
}));
const brazilian = fc
  .tuple(fc.integer({ min: 11, max: 99 }), fc.integer({ min: 60_000_000, max: 99_999_999 }))
  .map(([area, mobile]) => ({ area: String(area), mobile: String(mobile) }));
const mexican = fc.integer({ min: 20_000_000, max: 99_999_999 }).map(rest => `55${rest}`);
const argentine = fc.integer({ min: 20_000_000, max: 69_999_999 }).map(rest => `11${rest}`);

test('all notations of a number parse to the same E.164 form', () => {
  const separator = fc.constantFrom('', ' ', '-', '.', '  ', ' - ');
  fc.assert(
    fc.property(
      number,
      fc.constantFrom('+', '00', '', ' +', '+ '),
      fc.array(separator, { minLength: 20, maxLength: 20 }),
      fc.boolean(),
      ({ country, national }, prefix, separators, brackets) => {
        const digits = [...national]
          .map((digit, n) => digit + (n < national.length - 1 ? (separators[n] ?? '') : ''))
          .join('');
        const written = `${prefix}${country}${brackets ? ` (${national.slice(0, 2)}) ${national.slice(2)}` : `${separators[19] ?? ''}${digits}`}`;
        expect(parsePhone(written)).toEqual({ e164: `+${country}${national}`, key: `${country}${national}` });
      },
    ),
  );
});

test('parsing is idempotent, and the key depends only on the E.164 form', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: fc.constantFrom(...'0123456789+ ()-.') }),
        fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 7, maxLength: 15 }).map(digits => `+${digits}`),
      ),
      text => {
        const phone = parsePhone(text);
        if (!phone) return;
        expect(phone.e164).toMatch(/^\+[1-9]\d{3,14}$/);
        expect(parsePhone(phone.e164)).toEqual(phone);
        expect(phoneKey(phone.e164)).toBe(phone.key);
        expect(phoneKey(phone.e164.slice(1))).toBe(phone.key);
        expect(phoneKey(phone.key)).toBe(phone.key);
      },
    ),
    { numRuns: 500 },
  );
});

test('a Brazilian mobile number has one key with and without its ninth digit', () => {
  fc.assert(
    fc.property(brazilian, ({ area, mobile }) => phoneKey(`+55${area}9${mobile}`) === phoneKey(`+55${area}${mobile}`)),
  );
});

test('a Mexican number has one key with and without the old mobile prefix 1', () => {
  fc.assert(
    fc.property(mexican, national => {
      expect(parsePhone(`+521${national}`)).toEqual(parsePhone(`+52${national}`));
      expect(parsePhone(`52 1 ${national.slice(0, 2)} ${national.slice(2)}`)?.e164).toBe(`+52${national}`);
      expect(phoneKey(`521${national}`)).toBe(phoneKey(`52${national}`));
    }),
  );
});

test('an Argentine number has one key with and without the mobile prefix 9', () => {
  fc.assert(fc.property(argentine, national => phoneKey(`+549${national}`) === phoneKey(`+54${national}`)));
});

test('different numbers have different keys', () => {
  const any = fc.oneof(
    number.map(({ country, national }) => country + national),
    brazilian.map(({ area, mobile }) => `55${area}${mobile}`),
    mexican.map(national => `52${national}`),
    argentine.map(national => `54${national}`),
    fc.constantFrom('551132345678', '551122345678', '5411', '521', '549'),
  );
  fc.assert(fc.property(any, any, (a, b) => (phoneKey(a) === phoneKey(b)) === (a === b)));
});

test('numbers as spreadsheets and address books write them are read as they are shown', () => {
  const expected = { e164: '+4915110000018', key: '4915110000018' };
  // Of a column with an empty cell pandas and others write decimal fractions: the 0 is no digit of the number.
  for (const text of ['4915110000018.0', ' 4915110000018.0 ', '004915110000018.0'])
    expect(parsePhone(text), text).toEqual(expected);
  // Copied text brings marks of the writing direction, which nobody sees.
  for (const text of ['\u200e+49 1511 0000018', '\u202a+49 1511 0000018\u202c', '+49\u00ad1511\u200b0000018'])
    expect(parsePhone(text), JSON.stringify(text)).toEqual(expected);
  for (const text of [
    '01511 0000018',
    '015110000018.0',
    '15110000018.0',
    '\u2068015110000018\u2069',
    '4915110000018.0',
  ])
    expect(parsePhoneIn(text, 'DE'), JSON.stringify(text)).toEqual(expected);
  expect(parsePhone('+1.415.555.0100')?.e164).toBe('+14155550100');
  expect(parsePhone('4915110000018.00')?.e164).not.toBe('+491511000001800');
});

test('text that is not a number parses to undefined, and parsing never throws', () => {
  for (const text of [
    '',
    ' ',
    '+',
    '00',
    '++',
    'phone',
    '+49',
    '123',
    '+0151234567',
    '0151 2345678',
    `+49${'1'.repeat(50)}`,
    '٤٩'.repeat(300),
    '\u0000',
    '+1 (',
    'tel:',
  ])
    expect(parsePhone(text), text).toBeUndefined();
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => void parsePhone(text)),
    { numRuns: 500 },
  );
});

test('national numbers use the given country; international numbers ignore it', () => {
  const read = (text: string, country: string | null) => parsePhoneIn(text, country)?.e164;
  expect(read('0151 23456789', 'DE')).toBe('+4915123456789');
  expect(read('(415) 555-2671', 'US')).toBe('+14155552671');
  expect(read('06 12345678', 'NL')).toBe('+31612345678');
  expect(read('+49 151 23456789', 'US')).toBe('+4915123456789');
  expect(read('0049 151 23456789', 'US')).toBe('+4915123456789');
});

test('bare digits with the country’s calling code are international, except Italian mobiles that only look so', () => {
  const read = (text: string, country: string) => parsePhoneIn(text, country)?.e164;
  expect(read('4915123456789', 'DE')).toBe('+4915123456789');
  expect(read('14155552671', 'US')).toBe('+14155552671');
  expect(read('5511912345678', 'BR')).toBe('+5511912345678');
  expect(read('3933456789', 'IT')).toBe('+393933456789');
  expect(read('9187654321', 'IN')).toBe('+919187654321');
});

test('bare digits are rejected without a country, or with an unknown one', () => {
  for (const country of [null, '', 'XX', '__proto__', 'de', 'constructor']) {
    expect(parsePhoneIn('4155552671', country)).toBeUndefined();
    expect(parsePhoneIn('+14155552671', country)?.e164).toBe('+14155552671');
  }
  for (const text of ['', '  ', 'abc', '12', '+', '1'.repeat(41)])
    expect(parsePhoneIn(text, 'DE'), text).toBeUndefined();
});

test('the E.164 form of a national number parses to itself', () =>
  fc.assert(
    fc.property(
      fc.constantFrom('DE', 'US', 'BR', 'MX', 'AR', 'IT', 'IN', 'GB', 'AE'),
      fc.stringMatching(/^[\d ()-]{6,16}$/),
      (country, text) => {
        const phone = parsePhoneIn(text, country);
        if (phone) expect(parsePhoneIn(phone.e164, null)).toEqual(phone);
      },
    ),
  ));

test('spellingsOfKey is the inverse of phoneKey', () => {
  const brazil = brazilian.map(({ area, mobile }) => `55${area}9${mobile}`);
  const mexico = mexican.map(national => `521${national}`);
  const argentina = argentine.map(national => `549${national}`);
  fc.assert(
    fc.property(
      fc.oneof(
        brazil,
        mexico,
        argentina,
        number.map(({ country, national }) => country + national),
      ),
      digits => {
        const spellings = spellingsOfKey(phoneKey(digits));
        expect(spellings).toContain(digits);
        expect(spellings.map(phoneKey)).toEqual(spellings.map(() => phoneKey(digits)));
      },
    ),
  );
});
