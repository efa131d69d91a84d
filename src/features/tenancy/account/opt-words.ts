import type { FieldCode, FieldErrorList } from '../../../core/errors.ts';
import { foldText, isLonger, isStorable } from '../../../platform/text.ts';

/** Words that opt a person out and in. */
export interface OptWords {
  readonly opt_out_words: readonly string[];
  readonly opt_in_words: readonly string[];
}

/** The words of an account: for all languages, and those of each language by its tag (BCP 47, such as `pt-BR`). */
export interface AccountOptWords extends OptWords {
  readonly opt_words_by_language: Readonly<Record<string, OptWords>>;
}

type Words = readonly string[] | null | undefined;

/** Changes by the names of the input. Undefined: unchanged. */
export interface OptWordsInput {
  readonly optOutWords?: Words;
  readonly optInWords?: Words;
  /** Languages that are not named keep their words; one without words is removed. */
  readonly optWordsByLanguage?:
    | readonly { readonly language: string; readonly optOutWords?: Words; readonly optInWords?: Words }[]
    | null
    | undefined;
}

/** Of one list, of the characters of a word, and of an account. */
export const MAX_OPT = { words: 100, characters: 50, languages: 50 } as const;

/**
 * All words of an account. A word of any language counts for everybody: the network does not tell the language of a person, and an opt-out
 * that is not obeyed is worse than one too many.
 */
export function allOptWords({ opt_words_by_language: byLanguage, ...words }: AccountOptWords): OptWords {
  const lists = [words, ...Object.values(byLanguage)];
  return {
    opt_out_words: lists.flatMap(list => list.opt_out_words),
    opt_in_words: lists.flatMap(list => list.opt_in_words),
  };
}

/** @param current the words before, because no word may opt a person both in and out */
export function parseOptWords(
  input: OptWordsInput,
  current: AccountOptWords,
  errors: FieldErrorList,
): Partial<AccountOptWords> {
  const given = {
    ...parseLists(input, '', errors),
    ...(input.optWordsByLanguage !== undefined && {
      opt_words_by_language: parseLanguages(input.optWordsByLanguage, current.opt_words_by_language, errors),
    }),
  };
  checkDistinct(given, current, errors);
  return given;
}

function parseLists(
  input: Pick<OptWordsInput, 'optOutWords' | 'optInWords'>,
  path: string,
  errors: FieldErrorList,
): Partial<OptWords> {
  const [out, into] = [
    parseWords(input.optOutWords, `${path}optOutWords`, errors),
    parseWords(input.optInWords, `${path}optInWords`, errors),
  ];
  return { ...(out && { opt_out_words: out }), ...(into && { opt_in_words: into }) };
}

function parseLanguages(
  given: NonNullable<OptWordsInput['optWordsByLanguage']> | null,
  before: AccountOptWords['opt_words_by_language'],
  errors: FieldErrorList,
): AccountOptWords['opt_words_by_language'] {
  if (given === null) errors.add('optWordsByLanguage', 'Is required; an empty list changes nothing.', 'REQUIRED');
  const after = new Map(Object.entries(before));
  const seen = new Set<string>();
  for (const [index, { language: text, ...lists }] of (given ?? []).entries()) {
    const path = `optWordsByLanguage.${index}`;
    const language = languageTag(text);
    const words = parseLists(lists, `${path}.`, errors);
    if (language === undefined)
      errors.add(`${path}.language`, `Must be a language tag such as de or pt-BR, not ${text}.`);
    else if (seen.has(language)) errors.add(`${path}.language`, `Is there twice: ${language}.`, 'TAKEN');
    else {
      const merged = { ...(after.get(language) ?? { opt_out_words: [], opt_in_words: [] }), ...words };
      after.set(language, merged);
      if (merged.opt_out_words.length + merged.opt_in_words.length === 0) after.delete(language);
      seen.add(language);
    }
  }
  if (after.size > MAX_OPT.languages)
    errors.add(
      'optWordsByLanguage',
      `An account may have words of at most ${MAX_OPT.languages} languages.`,
      'TOO_MANY',
    );
  return Object.fromEntries([...after].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The usual spelling of a tag; templates write `pt_BR`. @returns undefined if it is not well-formed */
function languageTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text.trim().replaceAll('_', '-'))[0];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Words without those that are the same once folded. */
function parseWords(given: Words, field: string, errors: FieldErrorList): readonly string[] | undefined {
  if (given == null) {
    if (given === null) errors.add(field, 'Is required; an empty list removes all words.', 'REQUIRED');
    return undefined;
  }
  if (given.length > MAX_OPT.words) errors.add(field, `May have at most ${MAX_OPT.words} words.`, 'TOO_MANY');
  const words = new Map<string, string>();
  for (const [index, text] of given.slice(0, MAX_OPT.words).entries()) {
    const word = text.trim().toLowerCase();
    const fault = faultOf(word);
    if (fault) errors.add(`${field}.${index}`, fault.message, fault.code);
    else if (!words.has(foldText(word))) words.set(foldText(word), word);
  }
  return [...words.values()];
}

function faultOf(word: string): { readonly message: string; readonly code: FieldCode } | undefined {
  if (isLonger(word, MAX_OPT.characters))
    return { message: `May have at most ${MAX_OPT.characters} characters.`, code: 'TOO_LONG' };
  if (!isStorable(word) || foldText(word) === '')
    return { message: 'Must contain a letter or digit.', code: 'INVALID' };
  return undefined;
}

/** A word must not be both an opt-out and an opt-in keyword, even in different languages: all languages apply to every contact. */
function checkDistinct(given: Partial<AccountOptWords>, current: AccountOptWords, errors: FieldErrorList): void {
  if (Object.keys(given).length === 0) return;
  const after = allOptWords({ ...current, ...given });
  const out = new Set(after.opt_out_words.map(foldText));
  const both = after.opt_in_words.filter(word => out.has(foldText(word)));
  if (both.length === 0) return;
  const field = given.opt_in_words ? 'optInWords' : given.opt_out_words ? 'optOutWords' : 'optWordsByLanguage';
  const fault =
    field === 'optWordsByLanguage'
      ? 'Opts a person both in and out'
      : `Already opts a person ${field === 'optInWords' ? 'out' : 'in'}`;
  errors.add(field, `${fault}: ${[...new Set(both)].join(', ')}.`, 'TAKEN');
}
