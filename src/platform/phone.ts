import { AsYouType, type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';

export interface Phone {
  /** `+` and digits (ITU-T E.164). */
  readonly e164: string;
  /** Equal for all national spellings of a mobile number; see `phoneKey`. */
  readonly key: string;
}

/**
 * Text without format characters, which copied numbers have before and after them (marks of the writing direction), and without the
 * `.0` of a number that a program has written as a decimal fraction: with its 0, it would be somebody else's.
 */
const shown = (input: string): string =>
  input
    .replaceAll(/\p{Cf}/gu, '')
    .trim()
    .replace(/^(\d{6,})\.0+$/, '$1');

/**
 * Parses a number in international format: with `+`, with `00`, or bare digits that start with the country code.
 * Accepts possible numbers, not only assigned ones: numbering plans change faster than metadata, and the network
 * rejects numbers that do not exist.
 *
 * @returns undefined if the text is not a possible international number
 */
export function parsePhone(input: string): Phone | undefined {
  const text = shown(input);
  if (text.length > 40) return undefined;
  const international = text.startsWith('+') ? text : text.startsWith('00') ? `+${text.slice(2)}` : `+${text}`;
  // Mexico dropped the mobile prefix 1 in 2019; the network and old address books still write +52 1.
  const modern = international.replace(/^(\+52[\s.()-]*)1(?=(?:\D*\d){10}\D*$)/, '$1');
  const parsed = parsePhoneNumberFromString(modern, { extract: false });
  if (!parsed?.isPossible()) return undefined;
  // A trunk prefix is removed once. A number that would lose another one when parsed again (+971 000…) has no stable form.
  if (parsePhoneNumberFromString(parsed.number, { extract: false })?.number !== parsed.number) return undefined;
  return { e164: parsed.number, key: phoneKey(parsed.number) };
}

/** Whether national numbers of a country can be read. @param code ISO 3166-1 alpha-2 */
export const isPhoneCountry = (code: string): boolean => isSupportedCountry(code);

/**
 * Parses a number as written in a country: in international format (`+` or `00`) or national. Bare digits that begin with the
 * country's calling code and are a valid number there count as international: in forms, the `+` is omitted more often than the
 * trunk prefix. Without a country, bare digits are rejected.
 *
 * @param country ISO 3166-1 alpha-2; null if unknown
 * @returns undefined if the text is not a possible number
 */
export function parsePhoneIn(input: string, country: string | null): Phone | undefined {
  const text = shown(input);
  if (text.length > 40) return undefined;
  if (/^(\+|00)/.test(text)) return parsePhone(text);
  if (country === null || !isSupportedCountry(country)) return undefined;
  const defaultCountry: CountryCode = country;
  const international = parsePhoneNumberFromString(`+${text}`, { extract: false });
  if (international?.isValid() && international.country === country) return parsePhone(international.number);
  const national = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  return national?.isPossible() ? parsePhone(national.number) : undefined;
}

/**
 * Reads the beginning of a national number: "0171 12" in Germany is the beginning of +49 171 12….
 * @param country ISO 3166-1 alpha-2; null if unknown
 * @returns international digits; undefined if the text is in international format, or the country is unknown
 */
export function nationalDigits(text: string, country: string | null): string | undefined {
  if (country === null || !isSupportedCountry(country) || /^\s*(\+|00)/.test(text)) return undefined;
  const typed = new AsYouType(country);
  typed.input(text);
  return typed.getNumberValue()?.slice(1);
}

/** The digits of all national spellings of a number: the inverse of `phoneKey`. */
export function spellingsOfKey(key: string): string[] {
  if (/^55\d{2}[6-9]\d{7}$/.test(key)) return [key, `${key.slice(0, 4)}9${key.slice(4)}`];
  if (/^52\d{10}$/.test(key)) return [key, `521${key.slice(2)}`];
  if (/^54\d{10}$/.test(key)) return [key, `549${key.slice(2)}`];
  return [key];
}

/** A number as identities of contacts may spell it: digits as the network shows them, and E.164. */
export const identitySpellings = (key: string): string[] =>
  spellingsOfKey(key).flatMap(digits => [digits, `+${digits}`]);

/**
 * Normalises the spellings under which the network knows a mobile number.
 * - Brazil: the ninth digit of mobiles (an eight-digit mobile starts with 6 to 9) may be missing.
 * - Mexico: `1` after the country code may be present.
 * - Argentina: `9` after the country code may be missing.
 *
 * @param number E.164 or its digits (the network's `wa_id`)
 * @returns digits; equal for all spellings of one number, different for different numbers
 */
export function phoneKey(number: string): string {
  const digits = number.replace(/\D/g, '');
  if (/^55\d{2}9[6-9]\d{7}$/.test(digits)) return digits.slice(0, 4) + digits.slice(5);
  if (/^521\d{10}$/.test(digits)) return `52${digits.slice(3)}`;
  if (/^549\d{10}$/.test(digits)) return `54${digits.slice(3)}`;
  return digits;
}
