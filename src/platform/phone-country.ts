import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { LRUCache } from 'lru-cache';

/** Countries by the first digits of numbers: seven tell apart all that share a calling code, such as +1 and +44. */
const PREFIX_DIGITS = 7;
const byPrefix = new LRUCache<string, { readonly country: string | null }>({ max: 20_000 });

/** The country of a number (ISO 3166-1 alpha-2); null if it is not known. @param digits with or without a `+` */
function countryOfNumber(digits: string): string | null {
  const international = digits.startsWith('+') ? digits : `+${digits}`;
  // Numbers of one length, because a country may use a prefix for long numbers only.
  const prefix = `${international.length} ${international.slice(0, PREFIX_DIGITS + 1)}`;
  const known = byPrefix.get(prefix);
  if (known) return known.country;
  const country = parsePhoneNumberFromString(international, { extract: false })?.country ?? null;
  byPrefix.set(prefix, { country });
  return country;
}

/**
 * The country of a person by their number, or else by their business-scoped user id, which begins with it (`DE.…`).
 * @returns ISO 3166-1 alpha-2; null if neither tells
 */
export const countryOfPerson = (
  number: string | null | undefined,
  userId?: string | null | undefined,
): string | null => (number ? countryOfNumber(number) : (/^([A-Z]{2})\./.exec(userId ?? '')?.[1] ?? null));
