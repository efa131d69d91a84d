import type { FieldErrorList } from '../../../core/errors.ts';
import { countryByCode } from '../../../platform/countries.ts';
import { isPhoneCountry } from '../../../platform/phone.ts';
import { isTimeZone } from '../../../platform/time-zones.ts';
import { type AccountOptWords, type OptWordsInput, parseOptWords } from './opt-words.ts';

/** Settings that a tenant changes itself. */
export interface Settings extends AccountOptWords {
  readonly window_policy: 'network' | 'refuse';
  /** ISO 3166-1 alpha-2; null: none. */
  readonly default_country: string | null;
  /** IANA name. */
  readonly time_zone: string;
  readonly default_source_id: number | null;
  readonly default_status_id: number | null;
  readonly default_assignee_id: number | null;
}

/** Changes by the names of the input. Undefined: unchanged. */
export interface SettingsInput extends OptWordsInput {
  readonly windowPolicy?: Settings['window_policy'] | null | undefined;
  readonly defaultCountry?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  readonly defaultSourceId?: number | null | undefined;
  readonly defaultStatusId?: number | null | undefined;
  readonly defaultAssigneeId?: number | null | undefined;
}

/**
 * Parses a change of settings; references are not looked up.
 * @param current the settings before, for what must fit together
 */
export function parseSettings(
  input: SettingsInput,
  current: AccountOptWords,
  errors: FieldErrorList,
): Partial<Settings> {
  const words = parseOptWords(input, current, errors);
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
