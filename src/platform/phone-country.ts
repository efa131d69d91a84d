import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';
import { LRUCache } from 'lru-cache';

/**
 * Calling codes that countries share down to the eighth digit: +44 7797 is Jersey, +44 7798 the United Kingdom. Those of +1 and +7 differ
 * in the area code.
 */
export const SHARED_CODES = ['39', '44', '47', '61', '212', '262', '290', '358', '590', '599'] as const;
const SHARED = new RegExp(`^\\+(${SHARED_CODES.join('|')})`);

/** The first of the countries of a calling code: of numbers in a range that none of them has assigned, as far as the metadata knows. */
const mainCountryOf = (callingCode: string): string | null =>
  (metadata.country_calling_codes as Record<string, readonly string[]>)[callingCode]?.[0] ?? null;

/** The country whose calling code a territory has: `GB` for `JE`; else the country itself, also of those with +1 and +7. */
export function countryOfCode(country: string): string {
  if (!isSupportedCountry(country)) return country;
  const code = getCountryCallingCode(country);
  return SHARED_CODES.some(shared => shared === code) ? (mainCountryOf(code) ?? country) : country;
}

/** Countries by the first digits of numbers, which tell the country of a number as the whole of it does. */
const PREFIX_DIGITS = 7;
const SHARED_DIGITS = 8;
const byPrefix = new LRUCache<string, { readonly country: string | null }>({ max: 20_000 });

/** The country of a number (ISO 3166-1 alpha-2); null if it is not known. @param digits with or without a `+` */
function countryOfNumber(digits: string): string | null {
  const international = digits.startsWith('+') ? digits : `+${digits}`;
  const count = SHARED.test(international) ? SHARED_DIGITS : PREFIX_DIGITS;
  // Numbers of one length, because a country may use a prefix for long numbers only.
  const prefix = `${international.length} ${international.slice(0, count + 1)}`;
  const known = byPrefix.get(prefix);
  if (known) return known.country;
  const parsed = parsePhoneNumberFromString(international, { extract: false });
  const country = parsed?.country ?? (parsed ? mainCountryOf(parsed.countryCallingCode) : null);
  byPrefix.set(prefix, { country });
  return country;
}

/**
 * The country of a person by their number, or else by their business-scoped user id, which begins with it (`DE.…`).
 * @returns ISO 3166-1 alpha-2; null if neither determines it
 */
export const countryOfPerson = (
  number: string | null | undefined,
  userId?: string | null | undefined,
): string | null => (number ? countryOfNumber(number) : (/^([A-Z]{2})\./.exec(userId ?? '')?.[1] ?? null));
