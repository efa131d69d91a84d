import { createRequire } from 'node:module';
import { FieldErrorList } from '../errors.ts';
import { ReceivedFile } from './received-file.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** What was said: null takes a value away, undefined is not said at all. */
type Said<T> = T | null | undefined;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// The package's entry point loads the names of every language; its table of codes is all we need.
const codes: readonly (readonly [alpha2: string, alpha3: string, numeric: string])[] = createRequire(import.meta.url)(
  'i18n-iso-countries/codes.json',
);
const numericByLetters = new Map(
  codes.flatMap(([two, three, numeric]) => [[two, Number(numeric)] as const, [three, Number(numeric)] as const]),
);

/**
 * Reads the fields of a JSON body as legacy clients write them: numbers quoted or bare, lists as arrays or with commas,
 * several names for one field. What cannot be read becomes a message under the field's first name; nothing is thrown
 * before `throwIfAny`, so that a caller learns of all faults at once.
 *
 * Hand-written, because no schema library reads and names things this way, and because it costs a tenth of one per call.
 */
export class Body {
  readonly #fields: JsonObject;
  readonly #prefix: string;
  readonly errors: FieldErrorList;

  /** @param value the parsed body; none at all is an empty object */
  constructor(value: unknown, errors = new FieldErrorList(), prefix = '') {
    this.errors = errors;
    this.#prefix = prefix;
    if (value !== undefined && !isObject(value)) this.#fault(prefix === '' ? 'body' : '', 'Must be a JSON object.');
    this.#fields = isObject(value) ? value : {};
  }

  text(...names: readonly [string, ...string[]]): Said<string> {
    const value = this.#find(names);
    if (value == null) return value;
    if (typeof value === 'number') return String(value);
    // Neither can be stored: the one is refused, half of a surrogate pair is replaced as any UTF-8 encoder would.
    if (typeof value === 'string') return value.includes('\0') ? this.#fault(names[0], NUL) : value.toWellFormed();
    return this.#fault(names[0], 'Must be text.');
  }

  /** Text that may not be missing. @returns '' beside a fault */
  requiredText(...names: readonly [string, ...string[]]): string {
    const text = this.text(...names);
    if (text) return text;
    this.missing(names[0]);
    return '';
  }

  id(...names: readonly [string, ...string[]]): Said<string> {
    const value = this.#find(names);
    if (value == null) return value;
    if (value === '') return null;
    return idOf(value) ?? this.#fault(names[0], 'Must be an id: a whole number.');
  }

  /** Several ids: an array, a list with commas, or one alone. What an answer of ours shows as objects is read by their `id`. */
  ids(...names: readonly [string, ...string[]]): Said<string[]> {
    const value = this.#find(names);
    if (value == null) return value;
    const ids = listed(value).map(item => idOf(isObject(item) ? item['id'] : item));
    return ids.every(id => id !== undefined) ? ids : this.#fault(names[0], 'Must be a list of ids: whole numbers.');
  }

  /** Values by name: an object, or a list of objects with `name` and `value`. */
  pairs(name: string): Said<{ name: string; value: string }[]> {
    const value = this.#find([name]);
    if (value == null) return value;
    const items: readonly unknown[] = Array.isArray(value)
      ? value
      : isObject(value)
        ? Object.entries(value).map(([key, text]) => ({ name: key, value: text }))
        : [value];
    const pairs = items.flatMap(item =>
      isObject(item) && typeof item['name'] === 'string' && typeof item['value'] === 'string'
        ? [{ name: item['name'], value: item['value'] }]
        : [],
    );
    return pairs.length === items.length ? pairs : this.#fault(name, 'Must be an object with a text for each name.');
  }

  /** Several texts: an array, or one text with commas. */
  texts(...names: readonly [string, ...string[]]): Said<string[]> {
    const value = this.#find(names);
    if (value == null) return value;
    if (typeof value === 'string') return value.split(',').filter(item => item.trim() !== '');
    if (!Array.isArray(value)) return this.#fault(names[0], 'Must be a list of texts.');
    const items = new Body({ ...value }, this.errors, `${this.#prefix}${names[0]}.`);
    return value.map((_, index) => items.text(String(index)) ?? '');
  }

  /** A whole number, quoted or bare. */
  whole(...names: readonly [string, ...string[]]): Said<number> {
    const value = this.#find(names);
    if (value == null || value === '') return value == null ? value : null;
    const word = typeof value === 'object' ? '' : String(value).trim();
    return /^-?\d{1,9}$/.test(word) ? Number(word) : this.#fault(names[0], 'Must be a whole number.');
  }

  flag(...names: readonly [string, ...string[]]): Said<boolean> {
    const value = this.#find(names);
    if (value == null || value === '') return value == null ? value : null;
    const word = typeof value === 'object' ? '' : String(value).trim().toLowerCase();
    if (word === 'true' || word === '1') return true;
    if (word === 'false' || word === '0') return false;
    return this.#fault(names[0], 'Must be true or false.');
  }

  /** One of a table's words, whatever its case. @returns the table's value for it */
  choice<T>(table: Readonly<Record<string, T>>, ...names: readonly [string, ...string[]]): Said<T> {
    const value = this.#find(names);
    if (value == null || value === '') return value == null ? value : null;
    const word = typeof value === 'string' ? value.trim().toLowerCase() : '';
    const known = Object.hasOwn(table, word) ? table[word] : undefined;
    return known ?? this.#fault(names[0], `Must be one of: ${Object.keys(table).join(', ')}.`);
  }

  /** A country by any of its ISO 3166-1 codes. @returns the numeric one */
  country(...names: readonly [string, ...string[]]): Said<number> {
    const value = this.#find(names);
    if (value == null) return value;
    const word =
      typeof value === 'number' || typeof value === 'string' ? String(value).trim().toUpperCase() : 'no text';
    if (word === '') return null;
    const numeric = /^\d{1,9}$/.test(word) ? Number(word) : numericByLetters.get(word);
    return numeric ?? this.#fault(names[0], 'Must be a country by ISO 3166-1 code, for example 276 or DE.');
  }

  /** An object inside; its faults stand under `name.field`. */
  object(name: string): Body | undefined {
    const value = this.#find([name]);
    return value == null ? undefined : new Body(value, this.errors, `${this.#prefix}${name}.`);
  }

  /** The fields that were given a value. */
  get names(): string[] {
    return Object.keys(this.#fields).filter(name => this.#fields[name] != null);
  }

  /** The whole path of a field, as faults name it. */
  path(name: string): string {
    return this.#prefix + name;
  }

  /** A file of a form. @returns the id of the media that it became */
  file(name: string): string | undefined {
    const value = this.#find([name]);
    if (value instanceof ReceivedFile) return value.mediaId;
    return value == null || value === '' ? undefined : this.#fault(name, 'Must be a file: send multipart/form-data.');
  }

  /** A file of a form, or the id of an upload. @returns the id of the media */
  fileOrId(name: string): string | undefined {
    const value = this.#find([name]);
    return (value instanceof ReceivedFile ? value.mediaId : this.text(name)) || undefined;
  }

  /** A list of anything, to be read by the caller. */
  list(name: string): readonly unknown[] {
    const value = this.#find([name]);
    if (Array.isArray(value)) return value;
    this.#fault(name, value == null ? 'Is required.' : 'Must be a list.');
    return [];
  }

  /** As `list`, also with commas. */
  listOrCommas(name: string): readonly unknown[] {
    const value = this.#find([name]);
    return typeof value === 'string' && value.trim() !== '' ? listed(value) : this.list(name);
  }

  /** Several names: an array, or a list with commas. What an answer of ours shows as objects is read by their `name`. Empty ones are none. */
  words(...names: readonly [string, ...string[]]): Said<string[]> {
    const value = this.#find(names);
    if (value == null) return value;
    const items = listed(value).map(item => nameOf(isObject(item) ? item['name'] : item));
    if (!items.every(item => item !== undefined))
      return this.#fault(names[0], 'Must be a list of names: an array, or text with commas.');
    if (items.some(item => item.includes('\0'))) return this.#fault(names[0], NUL);
    return items.filter(item => item !== '');
  }

  /** Says that a field is missing, unless something else is wrong with it. */
  missing(name: string): void {
    if (!Object.hasOwn(this.errors.fields, this.#prefix + name)) this.#fault(name, 'Is required.');
  }

  has(...names: readonly string[]): boolean {
    return this.#find(names) != null && this.#find(names) !== '';
  }

  /** @throws VALIDATION_ERROR with all faults */
  throwIfAny(): void {
    this.errors.throwIfAny();
  }

  #find(names: readonly string[]): unknown {
    for (const name of names)
      if (Object.hasOwn(this.#fields, name) && this.#fields[name] !== undefined) return this.#fields[name];
    return undefined;
  }

  #fault(name: string, message: string): undefined {
    this.errors.add(`${this.#prefix}${name}`.replace(/\.$/, ''), message);
  }
}

/** The items of an array, or of a list with commas; anything else is the only one. */
function listed(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(',').filter(item => item.trim() !== '') : [value];
}

/** @returns a name without the blanks around it; undefined for what is none */
function nameOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim().toWellFormed() : undefined;
}

/** @returns the digits of an id that is written as a number or as text */
function idOf(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  const text = typeof value === 'string' ? value.trim() : '';
  return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? text : undefined;
}

const NUL = 'May not contain the character U+0000.';

/** Leaves out what was not said: the executor would read a key without a value as null, which takes a value away. */
export function said<T extends object>(fields: T): T {
  for (const [name, value] of Object.entries(fields)) if (value === undefined) Reflect.deleteProperty(fields, name);
  return fields;
}
