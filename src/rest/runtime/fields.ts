import { z } from 'zod';
import type { FieldErrorList } from '../../core/errors.ts';
import { countryByCode } from '../../platform/countries.ts';
import { isObject } from '../../platform/json.ts';
import { flagOf } from '../wire/values.ts';

/**
 * JSON Schema keywords of a field, for the OpenAPI document. Descriptions and examples that the GraphQL schema has are taken
 * from there.
 *
 * Lengths and ranges are declared here for the document and enforced by the operation, which measures texts after merging and reports
 * them together with the faults that only it finds. test/rest/limits.test.ts checks that each is enforced.
 */
export interface Keywords {
  readonly [keyword: string]: unknown;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** A file of a form, which the network has already received. JSON cannot express it. */
export class ReceivedFile {
  readonly mediaId: string;

  constructor(mediaId: string) {
    this.mediaId = mediaId;
  }
}

const ALIASES = new WeakMap<object, readonly string[]>();

/** Accepts further names for a field of an object. Faults are reported under its first name. */
export const alias = <S extends z.ZodType>(field: S, ...names: readonly string[]): S => {
  ALIASES.set(field, names);
  return field;
};

export const NUL = 'May not contain the character U+0000.';
export const REQUIRED = 'Is required.';

const fault = (message: string) => ({
  error: ({ input }: { readonly input: unknown }) => (input == null || input === '' ? REQUIRED : message),
});

/** A field that may be missing, null or an empty text; the latter two remove a value. */
const optional = <S extends z.ZodType>(field: S) =>
  z.preprocess(value => (value === '' ? null : value), field.nullable()).optional();

// Unpaired surrogates are replaced, as a UTF-8 encoder does.
const readText = (value: unknown): unknown =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? value.toWellFormed() : value;

const textField = (keywords: Keywords) =>
  z
    .preprocess(
      readText,
      z.string(fault('Must be text.')).refine(value => !value.includes('\0'), NUL),
    )
    .meta({ ...keywords });

/** Text, also written as a number. */
export const text = (keywords: Keywords = {}) => textField(keywords).nullish();

/** Text that may not be missing or empty. */
export const requiredText = (keywords: Keywords = {}) => textField(keywords).refine(value => value !== '', REQUIRED);

/** The digits of an id that is written as a number or as text; anything else stays as it is. */
const readId = (value: unknown): unknown => {
  const digits = typeof value === 'string' ? value.trim() : '';
  return /^\d{1,16}$/.test(digits) ? Number(digits) : value;
};

const idNumber = z.int(fault('Must be an id: a whole number.')).nonnegative('Must be an id: a whole number.');

/** The id of a row, quoted or bare. @returns its digits, as GraphQL's ID takes them */
export const id = (keywords: Keywords = {}) =>
  optional(z.preprocess(readId, idNumber.transform(String)).meta({ format: 'int64', ...keywords }));

/** The items of an array, or of text with commas; anything else is the only item. */
export function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(',').filter(item => item.trim() !== '') : [value];
}

/** Reads a list as a whole: one faulty item makes the list faulty, not the item. */
const wholeList =
  (read: (item: unknown) => unknown, isRead: (item: unknown) => boolean) =>
  (value: unknown): unknown => {
    if (value == null) return value;
    const items = itemsOf(value).map(read);
    return items.every(isRead) ? items : 'not a list';
  };

const readIds = wholeList(
  item => readId(isObject(item) ? item['id'] : item),
  item => Number.isSafeInteger(item) && Number(item) >= 0,
);

/** Several ids: an array, text with commas, or one alone. Objects, as our answers show them, are read by their `id`. */
export const requiredIds = (keywords: Keywords = {}) =>
  z
    .preprocess(
      readIds,
      z
        .array(idNumber.meta({ format: 'int64' }), fault('Must be a list of ids: whole numbers.'))
        .transform(numbers => numbers.map(String)),
    )
    .meta({ ...keywords });

export const ids = (keywords: Keywords = {}) => requiredIds(keywords).nullish();

const readName = (value: unknown): unknown =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim().toWellFormed() : undefined;
const readNames = wholeList(
  item => readName(isObject(item) ? item['name'] : item),
  item => typeof item === 'string',
);

/** Several names: an array, or text with commas. Objects, as our answers show them, are read by their `name`. Empty names are ignored. */
export const requiredNames = (keywords: Keywords = {}) =>
  z
    .preprocess(
      readNames,
      z
        .array(z.string(), fault('Must be a list of names: an array, or text with commas.'))
        .refine(items => !items.some(item => item.includes('\0')), NUL)
        .transform(items => items.filter(item => item !== '')),
    )
    .meta({ ...keywords });

export const names = (keywords: Keywords = {}) => requiredNames(keywords).nullish();

/** Several texts: an array, or one text with commas. A missing item is empty. */
export const texts = (keywords: Keywords = {}) =>
  z
    .preprocess(
      value => (typeof value === 'string' ? itemsOf(value) : value),
      z.array(
        z.preprocess(value => value ?? '', textField({})),
        fault('Must be a list of texts.'),
      ),
    )
    .meta({ ...keywords })
    .nullish();

/** Values by name: an object, or a list of objects with `name` and `value`, or of names alone, as our answers show them. */
export const pairs = (keywords: Keywords = {}) =>
  z
    .preprocess(
      readPairs,
      z.custom<{ name: string; value?: string }[]>(Array.isArray, {
        error: 'Must be an object with a text for each name.',
        abort: false,
      }),
    )
    .meta({
      anyOf: [
        { type: 'object', additionalProperties: { type: 'string' } },
        { type: 'array', items: { type: 'string' } },
      ],
      ...keywords,
    })
    .nullish();

function readPairs(value: unknown): unknown {
  const items = isObject(value) ? Object.entries(value).map(([name, text]) => ({ name, value: text })) : value;
  if (!Array.isArray(items)) return value;
  const isPair = (item: unknown): boolean =>
    typeof item === 'string' ||
    (isObject(item) && typeof item['name'] === 'string' && typeof item['value'] === 'string');
  if (!items.every(isPair)) return 'not pairs';
  return items.map(item => (typeof item === 'string' ? { name: item } : { name: item.name, value: item.value }));
}

const readWhole = (value: unknown): unknown =>
  typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim()) ? Number(value) : value;

/** A whole number of at most 9 digits, quoted or bare. */
export const requiredWhole = (keywords: Keywords = {}, message = 'Must be a whole number.') =>
  z
    .preprocess(
      readWhole,
      z.int(fault(message)).refine(value => Math.abs(value) < 1e9, message),
    )
    .meta({ ...keywords });

export const whole = (keywords: Keywords = {}, message?: string) => optional(requiredWhole(keywords, message));

/** A number that may not be missing, quoted or bare. */
export const requiredNumber = (keywords: Keywords = {}) =>
  z
    .preprocess(
      value => (typeof value === 'string' && value !== '' ? Number(value) : value),
      z.number(fault('Must be a number.')),
    )
    .meta({ ...keywords });

/** `true`, `false`, `1` or `0`, quoted or bare. */
export const flag = (keywords: Keywords = {}) =>
  optional(
    z
      .preprocess(
        value => (typeof value === 'object' ? value : (flagOf(String(value).trim()) ?? value)),
        z.boolean(fault('Must be true or false.')),
      )
      .meta({ ...keywords }),
  );

/** As `flag`, documented as version 1 writes it. */
export const bit = (keywords: Keywords = {}) => flag({ type: 'integer', enum: [0, 1], ...keywords });

/** One of a table's words, in any case. @returns the table's value for it */
export const requiredChoice = <const Table extends Readonly<Record<string, unknown>>>(
  table: Table,
  keywords: Keywords = {},
) =>
  z
    .preprocess(
      value => (typeof value === 'string' ? value.trim().toLowerCase() : value),
      z
        .enum(Object.keys(table), fault(`Must be one of: ${Object.keys(table).join(', ')}.`))
        .transform(word => table[word] as Table[keyof Table]),
    )
    .meta({ ...keywords });

export const choice = <const Table extends Readonly<Record<string, unknown>>>(table: Table, keywords: Keywords = {}) =>
  optional(requiredChoice(table, keywords));

function readCountry(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const code = value.trim().toUpperCase();
  return code === '' ? null : /^\d{1,9}$/.test(code) ? Number(code) : (countryByCode(code)?.id ?? value);
}

/** A country by any of its ISO 3166-1 codes. @returns the numeric one */
export const country = (keywords: Keywords = {}) => {
  const message = 'Must be a country by ISO 3166-1 code, for example 276 or DE.';
  const numeric = z.int(fault(message)).refine(value => value >= 0 && value < 1e9, message);
  return z
    .preprocess(readCountry, numeric.nullable())
    .meta({ ...keywords })
    .optional();
};

const FILE: Keywords = { type: 'string', format: 'binary' };

/** A file of a form. @returns the id of the media that it became */
export const file = (keywords: Keywords = {}) =>
  optional(
    z
      .custom<ReceivedFile>(value => value instanceof ReceivedFile, {
        error: 'Must be a file: send multipart/form-data.',
        abort: false,
      })
      .transform(received => received.mediaId)
      .meta(FILE),
  ).meta({ ...FILE, ...keywords });

/** A file of a form, or the id of an upload. @returns the id of the media */
export const fileOrId = (keywords: Keywords = {}) =>
  z
    .preprocess(value => (value instanceof ReceivedFile ? value.mediaId : readText(value)), textField({}))
    .nullish()
    .meta({ ...FILE, ...keywords });

/** A list of anything that `item` reads; its faults are reported under the item's place. */
export const requiredList = <S extends z.ZodType>(item: S, keywords: Keywords = {}) =>
  z.array(item, fault('Must be a list.')).meta({ ...keywords });

export const list = <S extends z.ZodType>(item: S, keywords: Keywords = {}) => requiredList(item, keywords).nullish();

/**
 * Adds a fault. Other fields are checked where `kind` tells how.
 * @param kind `surplus`: the body has its meaning without the field; `standIn`: with this in its place
 */
export type AddFault = (
  field: string,
  message: string,
  kind?: 'surplus' | { readonly standIn: Readonly<Record<string, unknown>> },
) => void;

type Rule<Value> = (value: Value, add: AddFault) => void;

/**
 * A rule over several fields of an object. It also runs when single fields are faulty, so that all faults are reported at once;
 * a faulty field then has the value that was sent.
 */
const checkOf = <Value>(rule: Rule<Value>) =>
  z.superRefine<Value>(
    (value, { addIssue }) =>
      rule(value, (field, message, kind) =>
        addIssue({
          code: 'custom',
          path: [field],
          message,
          params: {
            isRule: true,
            isSurplus: kind === 'surplus',
            standIn: typeof kind === 'object' ? kind.standIn : undefined,
          },
        }),
      ),
    { when: ({ value }) => isObject(value) },
  );

const OBJECT = fault('Must be a JSON object.');

/** A JSON object. Unknown fields are removed: clients send whole rows and more. @param rules over several fields */
export const body = <Shape extends z.ZodRawShape>(
  shape: Shape,
  ...rules: readonly Rule<z.output<z.ZodObject<Shape>>>[]
) => z.preprocess(byFirstNames(shape), z.object(shape, OBJECT).check(...rules.map(checkOf)));

/** As `body`, for rules that look at unknown fields. */
export const openBody = <Shape extends z.ZodRawShape>(
  shape: Shape,
  ...rules: readonly Rule<z.output<z.ZodObject<Shape>>>[]
) => z.preprocess(byFirstNames(shape), z.looseObject(shape, OBJECT).check(...rules.map(checkOf)));

/** An object inside a body. */
export const requiredObject = <Shape extends z.ZodRawShape>(shape: Shape, keywords: Keywords = {}) =>
  body(shape).meta({ ...keywords });

export const object = <Shape extends z.ZodRawShape>(shape: Shape, keywords: Keywords = {}) =>
  requiredObject(shape, keywords).nullish();

/** Renames fields that are given by an alias to their first name. */
export function byFirstNames(shape: z.ZodRawShape): (value: unknown) => unknown {
  const aliases = Object.entries(shape).flatMap(([name, field]) => {
    const others = ALIASES.get(field);
    return others ? [[name, others] as const] : [];
  });
  return value => {
    if (!isObject(value)) return value;
    if (aliases.length > 0) READ_BY.set(value, { shape, aliases });
    let renamed: Record<string, unknown> | undefined;
    for (const [name, others] of aliases) {
      if (ownValue(value, name) !== undefined) continue;
      const other = others.find(candidate => ownValue(value, candidate) !== undefined);
      if (other === undefined) continue;
      renamed ??= { ...value };
      renamed[name] = value[other];
    }
    return renamed ?? value;
  };
}

type Aliases = readonly (readonly [name: string, others: readonly string[]])[];

/** The names by which an object was read. */
const READ_BY = new WeakMap<object, { readonly shape: z.ZodRawShape; readonly aliases: Aliases }>();

/** An object that a schema has read, with its fields under their first names alone: without one of these, no alias is read instead. */
export function underFirstNames(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const read = READ_BY.get(value);
  if (!read) return value;
  const renamed = new Map(Object.entries(value));
  for (const [name, others] of read.aliases) {
    const given = [name, ...others].find(candidate => ownValue(value, candidate) !== undefined);
    for (const other of others) if (!Object.hasOwn(read.shape, other)) renamed.delete(other);
    if (given !== undefined) renamed.set(name, value[given]);
  }
  return Object.fromEntries(renamed);
}

const ownValue = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Reads a parsed JSON body; no body is an empty object. @returns undefined when there are faults, which go to `errors` */
export function readBody<S extends z.ZodType>(
  schema: S,
  value: unknown,
  errors: FieldErrorList,
): z.output<S> | undefined {
  if (value === null) return void errors.add('body', 'Must be a JSON object.');
  const result = schema.safeParse(value === undefined ? {} : value);
  for (const { path, message } of result.error?.issues ?? []) errors.add(path.join('.') || 'body', message);
  return result.data;
}

/** Removes undefined fields: the executor would read a key without a value as null, which removes a value. */
export function dropUndefined<T extends object>(fields: T): T {
  for (const [name, value] of Object.entries(fields)) if (value === undefined) Reflect.deleteProperty(fields, name);
  return fields;
}
