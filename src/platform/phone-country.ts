import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';
import { LRUCache } from 'lru-cache';

/**
 * Calling codes shared by countries that only eight digits distinguish: +44 7797 is Jersey, +44 7798 the United Kingdom. The countries
 * of +1 and +7 differ in the area code.
 */
export const SHARED_CODES = ['39', '44', '47', '61', '212', '262', '290', '358', '590', '599'] as const;
const SHARED = new RegExp(`^\\+(${SHARED_CODES.join('|')})`);

/** Returns the main country of a calling code: that of numbers in ranges which, by the metadata, no country has assigned. */
const mainCountryOf = (callingCode: string): string | null =>
  (metadata.country_calling_codes as Record<string, readonly string[]>)[callingCode]?.[0] ?? null;

/** Returns the country whose calling code a territory uses (`GB` for `JE`); otherwise, and for +1 and +7, the country itself. */
export function countryOfCode(country: string): string {
  if (!isSupportedCountry(country)) return country;
  const code = getCountryCallingCode(country);
  return SHARED_CODES.some(shared => shared === code) ? (mainCountryOf(code) ?? country) : country;
}

/** Number of leading digits that determine the country of a number; used as cache keys. */
const PREFIX_DIGITS = 7;
const SHARED_DIGITS = 8;
const byPrefix = new LRUCache<string, { readonly country: string | null }>({ max: 20_000 });

/** The country of a number (ISO 3166-1 alpha-2); null if it is not known. @param digits with or without a `+` */
function countryOfNumber(digits: string): string | null {
  const international = digits.startsWith('+') ? digits : `+${digits}`;
  const count = SHARED.test(international) ? SHARED_DIGITS : PREFIX_DIGITS;
  // With the length of the number, because a country may use a prefix for long numbers only.
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
