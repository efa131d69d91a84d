import type { FieldCode, FieldErrorList } from '../../../core/errors.ts';
import { foldWord } from '../../../platform/fold.ts';
import { isPhoneCountry } from '../../../platform/phone.ts';
import { isLonger, isStorable } from '../../../platform/text.ts';
import { isTimeZone } from '../../../platform/time-zone.ts';
import { countryByCode } from '../../../schema/countries/country.ts';

/** What a tenant decides itself. */
export interface Settings {
  readonly window_policy: 'network' | 'refuse';
  /** ISO 3166-1 alpha-2; null: none. */
  readonly default_country: string | null;
  /** IANA name. */
  readonly time_zone: string;
  readonly opt_out_words: readonly string[];
  readonly opt_in_words: readonly string[];
  readonly default_source_id: number | null;
  readonly default_status_id: number | null;
  readonly default_assignee_id: number | null;
}

/** Changes by the names of the input. Undefined: unchanged. */
export interface SettingsInput {
  readonly windowPolicy?: Settings['window_policy'] | null | undefined;
  readonly defaultCountry?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  readonly optOutWords?: readonly string[] | null | undefined;
  readonly optInWords?: readonly string[] | null | undefined;
  readonly defaultSourceId?: number | null | undefined;
  readonly defaultStatusId?: number | null | undefined;
  readonly defaultAssigneeId?: number | null | undefined;
}

const MAX_WORDS = 100;
const MAX_WORD = 50;

/**
 * Parses a change of settings; references are not looked up.
 * @param current the settings before, for what must fit together
 */
export function parseSettings(
  input: SettingsInput,
  current: Pick<Settings, 'opt_out_words' | 'opt_in_words'>,
  errors: FieldErrorList,
): Partial<Settings> {
  const words = {
    opt_out_words: parseWords(input.optOutWords, 'optOutWords', errors),
    opt_in_words: parseWords(input.optInWords, 'optInWords', errors),
  };
  checkDistinct(words, current, errors);
  if (input.windowPolicy === null) errors.add('windowPolicy', 'Is required.', 'REQUIRED');
  const settings = {
    ...words,
    window_policy: input.windowPolicy ?? undefined,
    default_country: parseCountry(input.defaultCountry, errors),
    time_zone: parseTimeZone(input.timeZone, errors),
    default_source_id: input.defaultSourceId,
    default_status_id: input.defaultStatusId,
    default_assignee_id: input.defaultAssigneeId,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function parseCountry(text: string | null | undefined, errors: FieldErrorList): string | null | undefined {
  if (text == null) return text;
  const code = countryByCode(text)?.alpha2;
  if (code !== undefined && isPhoneCountry(code)) return code;
  errors.add('defaultCountry', 'Must be a country with phone numbers: a code of ISO 3166-1, for example DE.');
  return undefined;
}

function parseTimeZone(text: string | null | undefined, errors: FieldErrorList): string | undefined {
  if (text === undefined) return undefined;
  if (text === null) errors.add('timeZone', 'Is required.', 'REQUIRED');
  else if (isTimeZone(text)) return text;
  else errors.add('timeZone', 'Must be a name of the IANA time zone database, for example Europe/Berlin.');
  return undefined;
}

/** Words without those that are the same once folded. */
function parseWords(
  given: readonly string[] | null | undefined,
  field: string,
  errors: FieldErrorList,
): readonly string[] | undefined {
  if (given == null) {
    if (given === null) errors.add(field, 'Is required; an empty list removes all words.', 'REQUIRED');
    return undefined;
  }
  if (given.length > MAX_WORDS) errors.add(field, `May have at most ${MAX_WORDS} words.`, 'TOO_MANY');
  const words = new Map<string, string>();
  for (const [index, text] of given.slice(0, MAX_WORDS).entries()) {
    const word = text.trim().toLowerCase();
    const fault = faultOf(word);
    if (fault) errors.add(`${field}.${index}`, fault.message, fault.code);
    else if (!words.has(foldWord(word))) words.set(foldWord(word), word);
  }
  return [...words.values()];
}

function faultOf(word: string): { readonly message: string; readonly code: FieldCode } | undefined {
  if (isLonger(word, MAX_WORD)) return { message: `May have at most ${MAX_WORD} characters.`, code: 'TOO_LONG' };
  if (!isStorable(word) || foldWord(word) === '')
    return { message: 'Must contain a letter or digit.', code: 'INVALID' };
  return undefined;
}

/** A word in both lists would opt a person out who wants to opt in. */
function checkDistinct(
  given: { readonly [List in 'opt_out_words' | 'opt_in_words']: readonly string[] | undefined },
  current: Pick<Settings, 'opt_out_words' | 'opt_in_words'>,
  errors: FieldErrorList,
): void {
  if (!given.opt_out_words && !given.opt_in_words) return;
  const out = new Set((given.opt_out_words ?? current.opt_out_words).map(foldWord));
  const both = (given.opt_in_words ?? current.opt_in_words).filter(word => out.has(foldWord(word)));
  if (both.length === 0) return;
  const [field, other] = given.opt_in_words ? ['optInWords', 'out'] : ['optOutWords', 'in'];
  errors.add(field, `Already opts a person ${other}: ${both.join(', ')}.`, 'TAKEN');
}
