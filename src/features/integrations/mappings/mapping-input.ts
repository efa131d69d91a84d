import type { FieldCode, FieldErrorList } from '../../../core/errors.ts';
import type { Maybe } from '../../../core/maybe.ts';
import { isLonger, isStorable } from '../../../platform/text.ts';
import { linkFault } from '../../messages/content/media/send-media.ts';
import { checkLocation } from '../../templates/sending/parameters.ts';
import { languageOf } from '../../templates/template.ts';
import { MAX_PATH, parsePath } from '../intake/path.ts';
import { DEFAULT_TOPICS } from '../integration.ts';
import type { MappingFields } from '../store.ts';
import type { MappedTemplate, Value } from './mapping.ts';
import { type Kind, PATH_NAMES, type PathName, type Paths } from './paths.ts';

/** The input for a mapping; undefined: not given. */
export interface MappingInput {
  readonly name?: Maybe<string>;
  readonly isEnabled?: Maybe<boolean>;
  readonly topics?: Maybe<readonly string[]>;
  readonly statuses?: Maybe<readonly string[]>;
  readonly paths?: Maybe<Readonly<Partial<Record<PathName, Maybe<readonly string[]>>>>>;
  readonly groupIds?: Maybe<readonly string[]>;
  readonly template?: Maybe<MappedTemplate>;
}

export const MAX_MAPPINGS = 50;
export const MAX_WORDS = 20;
export const MAX_ALTERNATIVES = 8;
export const MAX_PARAMETERS = 30;
const MAX_NAME = 100;
const MAX_WORD = 200;
export const MAX_FIXED = 1_024;

const NOT_A_PATH = `Must be a path of at most ${MAX_PATH} characters: names with dots between them and places in brackets, such as billing.phone or line_items[0].name.`;

/** Validates a text of 1 to `maximum` storable characters. */
export const lengthCode = (text: string, maximum: number): FieldCode =>
  text.trim() === '' ? 'REQUIRED' : isLonger(text, maximum) ? 'TOO_LONG' : 'INVALID';

/**
 * Validates and normalises an input; adds faults to `errors`, with `prefix` before each field name.
 * @returns the given fields, without the groups, which are separate rows
 */
export function parseMapping(input: MappingInput, errors: FieldErrorList, prefix = ''): Partial<MappingFields> {
  const name = input.name?.trim();
  if (name !== undefined && (name === '' || isLonger(name, MAX_NAME) || !isStorable(name)))
    errors.add(`${prefix}name`, `Must have 1 to ${MAX_NAME} characters.`, lengthCode(name, MAX_NAME));
  const words = (field: 'topics' | 'statuses'): string[] | undefined => {
    const given = input[field]?.map(word => word.trim());
    if (given && given.length > MAX_WORDS) errors.add(prefix + field, `Takes at most ${MAX_WORDS}.`, 'TOO_MANY');
    for (const [index, word] of (given ?? []).entries())
      if (word === '' || word.length > MAX_WORD || !isStorable(word))
        errors.add(`${prefix}${field}.${index}`, `Must have 1 to ${MAX_WORD} characters.`, lengthCode(word, MAX_WORD));
    return given && [...new Set(given)];
  };
  const topics = words('topics');
  const statuses = words('statuses')?.map(word => word.toLowerCase());
  const paths = input.paths === undefined ? undefined : parsePaths(input.paths ?? {}, errors, `${prefix}paths.`);
  const template = input.template && parseTemplate(input.template, errors, `${prefix}template.`);
  return {
    ...(name !== undefined && { name }),
    ...(input.isEnabled != null && { isEnabled: input.isEnabled }),
    ...(topics && { topics }),
    ...(statuses && { statuses }),
    ...(paths && { paths }),
    ...(template !== undefined && { template }),
  };
}

/** A new mapping: omitted fields get the defaults of the kind. */
export const newMapping = (kind: Kind, fields: Partial<MappingFields>): MappingFields => ({
  name: 'Orders',
  isEnabled: true,
  topics: DEFAULT_TOPICS[kind],
  statuses: [],
  paths: {},
  template: null,
  ...fields,
});

function parsePaths(given: NonNullable<MappingInput['paths']>, errors: FieldErrorList, prefix: string): Partial<Paths> {
  const paths: Partial<Record<PathName, readonly string[]>> = {};
  for (const name of PATH_NAMES) {
    const alternatives = given[name]?.map(path => path.trim());
    // Null resets to the defaults.
    if (!alternatives) continue;
    if (alternatives.length > MAX_ALTERNATIVES)
      errors.add(prefix + name, `Takes at most ${MAX_ALTERNATIVES} paths.`, 'TOO_MANY');
    for (const [index, path] of alternatives.entries())
      if (!parsePath(path)) errors.add(`${prefix}${name}.${index}`, NOT_A_PATH);
    paths[name] = alternatives;
  }
  return paths;
}

function parseTemplate(template: MappedTemplate, errors: FieldErrorList, prefix: string): MappedTemplate {
  const [name, language] = [template.name.trim(), languageOf(template.language)];
  for (const [field, text] of Object.entries({ name, language }))
    if (text === '' || text.length > 512 || !isStorable(text))
      errors.add(prefix + field, 'Is required.', lengthCode(text, 512));
  const check = (value: Value, field: string): void => checkValue(value, errors, prefix + field);
  const { header, body = [], bodyByName = [], buttons = [] } = template;
  for (const kind of ['text', 'image', 'video', 'document', 'filename'] as const) {
    const value = header?.[kind];
    if (value) check(value, `header.${kind}`);
    const fault = kind === 'text' || kind === 'filename' || !value?.text ? undefined : linkFault(value.text);
    if (fault !== undefined) errors.add(`${prefix}header.${kind}.text`, fault);
  }
  if (header?.location) checkLocation(header.location, errors, prefix);
  for (const [field, list] of Object.entries({ body, bodyByName, buttons }))
    if ((list?.length ?? 0) > MAX_PARAMETERS)
      errors.add(prefix + field, `Takes at most ${MAX_PARAMETERS}.`, 'TOO_MANY');
  for (const [index, value] of (body ?? []).entries()) check(value, `body.${index}`);
  for (const [index, { name: variable, value }] of (bodyByName ?? []).entries()) {
    if (!/^\w{1,100}$/.test(variable))
      errors.add(`${prefix}bodyByName.${index}.name`, 'Must be the name of a variable.');
    check(value, `bodyByName.${index}.value`);
  }
  for (const [index, { value }] of (buttons ?? []).entries()) check(value, `buttons.${index}.value`);
  return { ...template, name, language };
}

function checkValue({ path, text, fallback }: Value, errors: FieldErrorList, field: string): void {
  if ((path == null) === (text == null))
    errors.add(field, 'Give either a path or a text.', path == null ? 'REQUIRED' : 'SURPLUS');
  if (path != null && !parsePath(path)) errors.add(`${field}.path`, NOT_A_PATH);
  if (path == null && fallback != null) errors.add(`${field}.fallback`, 'Goes with a path.', 'SURPLUS');
  for (const [name, words] of Object.entries({ text, fallback })) {
    if (words == null) continue;
    if (words.trim() === '' || isLonger(words, MAX_FIXED) || !isStorable(words))
      errors.add(`${field}.${name}`, `Must have 1 to ${MAX_FIXED} characters.`, lengthCode(words, MAX_FIXED));
  }
}
