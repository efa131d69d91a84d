import fc from 'fast-check';
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { expect, test } from 'vitest';
import { countryOfPerson } from '../../src/platform/phone-country.ts';

const SHARED = [...Map.groupBy(getCountries(), country => getCountryCallingCode(country)).values()].filter(
  countries => countries.length > 1,
);

test.each([
  ['+447700900123', 'GB'],
  // Of no range that is assigned.
  ['+447000000001', 'GB'],
  ['+15550001111', 'US'],
  ['+447797712345', 'JE'],
  ['+447781123456', 'GG'],
  ['+447911123456', 'GG'],
  ['+447624123456', 'IM'],
  ['+441534123456', 'JE'],
  ['+14155550123', 'US'],
  ['+14165550123', 'CA'],
  ['+18765550123', 'JM'],
  ['+18095550123', 'DO'],
  ['+17875550123', 'PR'],
  ['+79123456789', 'RU'],
  ['+77011234567', 'KZ'],
  ['+262692123456', 'RE'],
  ['+262639012345', 'YT'],
  ['447797712345', 'JE'],
  ['+99912345678', null],
])('the country of %s is %s', (number, country) => {
  expect(countryOfPerson(number)).toBe(country);
});

test('numbers of a shared calling code have the country of their range, in any order of calls', () => {
  const number = fc
    .tuple(fc.constantFrom(...SHARED.flat()), fc.nat(14), fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 14 }))
    .map(([country, kept, digits]: [CountryCode, number, number[]]) => {
      const national = examples[country] ?? '';
      const changed = digits.join('').slice(0, Math.max(0, national.length - kept));
      return `+${getCountryCallingCode(country)}${national.slice(0, national.length - changed.length)}${changed}`;
    });
  fc.assert(
    fc.property(number, text => {
      const known = parsePhoneNumberFromString(text, { extract: false });
      fc.pre(known?.isValid() === true);
      expect(countryOfPerson(text)).toBe(known?.country);
    }),
    { numRuns: 1_000 },
  );
});

test('without a number, a business-scoped user id tells the country', () => {
  expect([countryOfPerson(null, 'JE.abc'), countryOfPerson(undefined, 'x'), countryOfPerson(null)]).toEqual([
    'JE',
    null,
    null,
  ]);
});
