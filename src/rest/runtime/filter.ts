import { isDeepStrictEqual } from 'node:util';
import type { FieldErrorList } from '../../core/errors.ts';
import { parseDateTime } from '../../platform/date-time.ts';
import { flagOf } from '../wire/values.ts';
import { NUL } from './fields.ts';

/** The parameters of an address as Fastify gives them: repeated ones are lists. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A closed list of words, with GraphQL's names for them. */
export type Words = Readonly<Record<string, string>>;

/** Type of a filter's values: any text, a word in lower case, an id, a time, a boolean, or one of a table's words. */
export type FilterKind = 'text' | 'word' | 'id' | 'time' | 'flag' | Words;

/** Filters of a list: names of the wire with those of GraphQL. */
export type Filters = Readonly<Record<string, readonly [name: string, kind: FilterKind]>>;

/** The same for one filter input of GraphQL, whose comparisons decide the kinds. */
export type FiltersOf<Input> = Readonly<
  Record<
    string,
    { [Name in keyof Input]-?: readonly [name: Name, kind: KindOf<NonNullable<Input[Name]>>] }[keyof Input]
  >
>;

type KindOf<Comparison> = Comparison extends { readonly eq?: infer Value }
  ? NonNullable<Value> extends boolean
    ? 'flag'
    : string extends NonNullable<Value>
      ? 'text' | 'word' | 'id' | 'time'
      : Readonly<Record<string, NonNullable<Value>>>
  : never;

/** The conditions on one field, as the filter inputs of GraphQL take them. */
interface Comparison {
  readonly eq?: unknown;
  readonly ne?: unknown;
  readonly gt?: unknown;
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly lte?: unknown;
  readonly like?: unknown;
  readonly in?: readonly unknown[];
  readonly notIn?: readonly unknown[];
  readonly between?: readonly unknown[];
  readonly isNull?: boolean;
}

const OPERATORS = {
  eq: 'eq',
  ne: 'ne',
  gt: 'gt',
  gte: 'gte',
  lt: 'lt',
  lte: 'lte',
  like: 'like',
  in: 'in',
  not_in: 'notIn',
  between: 'between',
  null: 'isNull',
} as const satisfies Record<string, keyof Comparison>;

type Operator = keyof typeof OPERATORS;

const UNSUPPORTED: Readonly<Record<Extract<FilterKind, string>, readonly Operator[]>> = {
  text: [],
  word: [],
  id: ['like'],
  time: ['like'],
  flag: ['gt', 'gte', 'lt', 'lte', 'between', 'like'],
};

/** The operators for values of a kind, by their names on the wire. */
export function operatorsOf(kind: FilterKind): readonly (readonly [Operator, keyof Comparison])[] {
  const all = Object.entries(OPERATORS) as [Operator, keyof Comparison][];
  const unsupported = typeof kind === 'string' ? UNSUPPORTED[kind] : [];
  return all.filter(([word]) => !unsupported.includes(word));
}

/** Reads the `filter[…]` parameters of a list; faults go to `errors` under `filter.<field>`. @returns null if there are none */
export function readFilter<Input>(query: Query, filters: FiltersOf<Input>, errors: FieldErrorList): Input | null {
  const read: Record<string, Comparison> = {};
  const and: object[] = [];
  let isFiltered = false;
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || !/^filter(\[|$)/.test(key)) continue;
    const [, field = '', operator] = /^filter\[([^[\]]*)\](?:\[([^[\]]*)\])?(?:\[\])?$/.exec(key) ?? [];
    const at = field === '' ? 'filter' : `filter.${field}`;
    const [name, kind] = ownEntry<readonly [string, FilterKind]>(filters as Filters, field) ?? [];
    if (name === undefined || kind === undefined) {
      errors.add(
        at,
        `Unknown filter. Known are ${Object.keys(filters).join(', ')}, written as filter[field]=value or filter[field][operator]=value.`,
      );
      continue;
    }
    const comparison = compare(operator, typeof value === 'string' ? [value] : value, kind, at, errors);
    if (isAlternatives(comparison)) and.push(...comparison.map(or => ({ or: or.map(each => ({ [name]: each })) })));
    else if (comparison) {
      const both = intersect(read[name] ?? {}, comparison);
      if (both) read[name] = both;
      else and.push({ [name]: comparison });
    }
    isFiltered = true;
  }
  // Names and kinds stand in a table that was checked against the input's type.
  return isFiltered ? ({ ...read, ...(and.length > 0 && { and }) } as Input) : null;
}

/** Conditions on one field that a single comparison cannot express: at least one of each list must hold. */
type Alternatives = readonly (readonly Comparison[])[];

/** `Array.isArray` does not narrow a readonly array. */
const isAlternatives = (read: Comparison | Alternatives | undefined): read is Alternatives => Array.isArray(read);

/**
 * Combines two conditions on one field. A value must be in both lists; a pattern over an enumeration is a list too.
 * @returns undefined if both have an operator with different values, as a filter under two spellings does
 */
function intersect(one: Comparison, other: Comparison): Comparison | undefined {
  const { in: within, ...others } = { ...one, ...other };
  for (const [operator, value] of Object.entries(others))
    if (!isDeepStrictEqual({ ...other, ...one }[operator as keyof Comparison], value)) return undefined;
  const common = one.in && other.in ? one.in.filter(value => other.in?.includes(value)) : within;
  return common ? { ...others, in: common } : others;
}

function compare(
  word: string | undefined,
  values: readonly string[],
  kind: FilterKind,
  at: string,
  errors: FieldErrorList,
): Comparison | Alternatives | undefined {
  const known = new Map<string, keyof Comparison>(operatorsOf(kind));
  // `filter[f][]=a&filter[f][]=b`, and a filter that is repeated, mean one of several.
  const operator = word ? known.get(word) : values.length > 1 || word === '' ? 'in' : 'eq';
  if (operator === undefined) {
    errors.add(at, `Unknown operator: ${word}. Known are ${[...known.keys()].join(', ')}.`);
    return undefined;
  }
  if (kind === 'time' && operator !== 'isNull') {
    const days = compareDays(
      operator,
      values.flatMap(text => text.split(',')),
      at,
      errors,
    );
    if (days !== 'instants') return days;
  }
  const [value = ''] = values;
  switch (operator) {
    case 'in':
    case 'notIn':
    case 'between': {
      const items = values.flatMap(text => text.split(','));
      if (operator === 'between' && items.length !== 2)
        errors.add(at, 'between takes two values: the lowest and the highest.');
      if (operator === 'between' && typeof kind === 'object') return { in: wordsBy(kind, 'between', items) };
      return { [operator]: readValues(items, kind, at, errors) };
    }
    case 'isNull': {
      const isNull = flagOf(value);
      if (isNull !== undefined) return { isNull };
      errors.add(at, 'null takes true or false.');
      return undefined;
    }
    default: {
      if (values.length > 1) errors.add(at, 'Takes one value.');
      if (typeof kind === 'object' && operator !== 'eq' && operator !== 'ne')
        return { in: wordsBy(kind, operator, [value]) };
      const [read] = readValues([value], kind, at, errors);
      return read === undefined ? undefined : { [operator]: read };
    }
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const LAST_OF_DAY = 'T23:59:59.999Z';

/**
 * Compares with dates: a date is the whole day in UTC, so that `lte` and `between` include it and `eq` finds all times of that day.
 * @returns 'instants' if no value is a date, or there are too many or too few of them
 */
function compareDays(
  operator: Exclude<keyof Comparison, 'isNull'>,
  texts: readonly string[],
  at: string,
  errors: FieldErrorList,
): Comparison | Alternatives | undefined | 'instants' {
  const values = texts.map(text => text.trim());
  if (!values.some(value => DATE.test(value))) return 'instants';
  const last = (value: string) => (DATE.test(value) ? value + LAST_OF_DAY : value);
  const [value = '', high = ''] = values;
  if (operator === 'between' && values.length === 2)
    return { between: readValues([value, last(high)], 'time', at, errors) };
  const starts = readValues(values, 'time', at, errors);
  if (starts.length < values.length) return undefined;
  const days = values.map((text, index) => ({ start: starts[index], end: DATE.test(text) ? last(text) : undefined }));
  const isOn = ({ start, end }: Day): Comparison => (end ? { between: [start, end] } : { eq: start });
  // GraphQL's `not` would also match rows without a time, which `ne` does not match.
  const isNotOn = ({ start, end }: Day): Comparison[] => (end ? [{ lt: start }, { gt: end }] : [{ ne: start }]);
  if (operator === 'notIn') return days.map(isNotOn);
  if (operator === 'in') return [days.map(isOn)];
  const [day] = days;
  if (day === undefined || days.length > 1 || operator === 'between') return 'instants';
  if (operator === 'eq') return isOn(day);
  if (operator === 'ne') return [isNotOn(day)];
  return { [operator]: operator === 'gt' || operator === 'lte' ? day.end : day.start };
}

/** A day with its last millisecond; an instant if `end` is undefined. */
interface Day {
  readonly start: unknown;
  readonly end: string | undefined;
}

const PREDICATES = {
  gt: (word, [than]) => word > than,
  gte: (word, [than]) => word >= than,
  lt: (word, [than]) => word < than,
  lte: (word, [than]) => word <= than,
  between: (word, [low, high = '']) => low <= word && word <= high,
  like: (word, [text]) => {
    // Runs of `%` are one, so that backtracking stays linear in the word.
    const pattern = text
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/%+/g, '.*')
      .replaceAll('_', '.');
    return new RegExp(/[%_]/.test(text) ? `^${pattern}$` : pattern).test(word);
  },
} as const satisfies Record<string, (word: string, values: readonly [string, ...string[]]) => boolean>;

/** GraphQL's enums have neither an order nor a pattern, so the condition becomes a list of the words that satisfy it. */
function wordsBy(words: Words, operator: keyof typeof PREDICATES, values: readonly string[]): string[] {
  const [first = '', ...others] = values.map(value => value.trim().toLowerCase());
  return Object.entries(words).flatMap(([word, name]) => (PREDICATES[operator](word, [first, ...others]) ? name : []));
}

function readValues(
  values: readonly string[],
  kind: FilterKind,
  at: string,
  errors: FieldErrorList,
): (string | boolean)[] {
  return values.flatMap(text => {
    const value = readValue(text, kind);
    if (typeof value !== 'object') return value;
    errors.add(at, value.fault);
    return [];
  });
}

function readValue(text: string, kind: FilterKind): string | boolean | { readonly fault: string } {
  if (text.includes('\0')) return { fault: NUL };
  const word = text.trim().toLowerCase();
  switch (kind) {
    case 'text':
      return text;
    case 'word':
      return word;
    case 'id':
      return /^\d{1,16}$/.test(word) && Number.isSafeInteger(Number(word))
        ? word
        : { fault: 'Must be an id: a whole number.' };
    case 'time':
      return (
        instantOf(text.trim()) ?? {
          fault: 'Must be a date or instant in ISO 8601, for example 2026-01-31 or 2026-01-31T07:58:39+00:00.',
        }
      );
    case 'flag':
      return flagOf(word) ?? { fault: 'Must be true or false.' };
    default:
      return ownEntry(kind, word) ?? { fault: `Must be one of: ${Object.keys(kind).join(', ')}.` };
  }
}

/** @returns undefined for anything but a date or instant in ISO 8601 */
function instantOf(text: string): string | undefined {
  // In a query string the plus sign of our own timestamps' offset decodes to a space.
  const ms = parseDateTime(text.replace(/^(\d{4}-\d{2}-\d{2}T.*) (\d{2}:?\d{2})$/, '$1+$2'));
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** The entry of a table, ignoring inherited properties: the key is untrusted input. */
export const ownEntry = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Applies a function to every value of a comparison. */
export const mapValues = <T extends object>(comparison: T, change: (word: string) => string): T =>
  Object.fromEntries(
    Object.entries(comparison).map(([operator, value]: [string, unknown]) => [
      operator,
      typeof value === 'string'
        ? change(value)
        : Array.isArray(value)
          ? value.map(item => change(String(item)))
          : value,
    ]),
  ) as T;
