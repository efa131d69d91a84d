import type { FieldErrorList } from '../errors.ts';
import { listOf, type Query, single } from './query.ts';

/**
 * How the values of a filter are written: any text, one of our lower-case words, one of a few words that are no order, a whole number,
 * an instant, a truth value.
 */
export type FilterKind = 'text' | 'word' | 'choice' | 'id' | 'time' | 'flag';

/** What a list can be filtered and sorted by: the wire's names with GraphQL's. */
export interface ListFields<Filter extends string, Sort extends string> {
  readonly filters: Readonly<Record<string, readonly [name: Filter, kind: FilterKind]>>;
  readonly sorts: Readonly<Record<string, Sort>>;
}

/** The conditions on one field, as the filter inputs of GraphQL take them. */
export interface Comparison {
  readonly eq?: string;
  readonly ne?: string;
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly like?: string;
  readonly in?: readonly string[];
  readonly notIn?: readonly string[];
  readonly between?: readonly string[];
  readonly isNull?: boolean;
}

/** The arguments of a connection. */
export interface ListArguments<Filter extends string, Sort extends string> {
  readonly first: number;
  readonly offset: number;
  readonly search: string | null;
  readonly filter: Readonly<Partial<Record<Filter, Comparison>>> | null;
  readonly orderBy: readonly { readonly field: Sort; readonly direction: 'ASC' | 'DESC' }[] | null;
}

export const MAX_PER_PAGE = 100;
export const DEFAULT_PER_PAGE = 15;
/** As far as numbered pages go; beyond, every page would read all those before it. */
const MAX_OFFSET = 1_000_000;

export const OPERATORS = {
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

const BY_EQUALITY: readonly string[] = ['eq', 'ne', 'in', 'not_in'];

/** What a filter of this kind can be compared by, as the wire calls it. */
export function operatorsOf(kind: FilterKind): readonly string[] {
  if (kind === 'choice' || kind === 'flag') return BY_EQUALITY;
  return Object.keys(OPERATORS).filter(word => word !== 'like' || kind === 'text' || kind === 'word');
}

/** Reads the parameters of a list; every fault goes to `errors` under its parameter's name. */
export function readList<Filter extends string, Sort extends string>(
  query: Query,
  fields: ListFields<Filter, Sort>,
  errors: FieldErrorList,
): ListArguments<Filter, Sort> {
  const page = wholeNumber(query, 'page', 1, Number.MAX_SAFE_INTEGER, errors) ?? 1;
  const first = wholeNumber(query, 'per_page', 1, MAX_PER_PAGE, errors) ?? DEFAULT_PER_PAGE;
  const offset = (page - 1) * first;
  if (offset > MAX_OFFSET) errors.add('page', `Pages go as far as row ${MAX_OFFSET}: narrow the list by a filter.`);
  return {
    first,
    offset,
    search: readSearch(query, errors),
    filter: readFilter(query, fields, errors),
    orderBy: readSort(query, fields, errors),
  };
}

function wholeNumber(
  query: Query,
  name: string,
  minimum: number,
  maximum: number,
  errors: FieldErrorList,
): number | undefined {
  const text = single(query, name, errors);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  errors.add(
    name,
    maximum === MAX_PER_PAGE
      ? `Must be a whole number from ${minimum} to ${maximum}.`
      : `Must be a whole number from ${minimum} on.`,
  );
  return undefined;
}

function readSearch(query: Query, errors: FieldErrorList): string | null {
  const name = query['search'] === undefined ? 'q' : 'search';
  const text = single(query, name, errors) ?? null;
  if (text?.includes('\0')) errors.add(name, NUL);
  return text;
}

function readSort<Filter extends string, Sort extends string>(
  query: Query,
  { sorts }: ListFields<Filter, Sort>,
  errors: FieldErrorList,
) {
  const orderBy: { field: Sort; direction: 'ASC' | 'DESC' }[] = [];
  for (const key of listOf(query, 'sort')) {
    const descending = key.startsWith('-');
    // A plus sign in front arrives as a space, and has been trimmed.
    const name = descending ? key.slice(1) : key;
    const field = own(sorts, name);
    if (field === undefined)
      errors.add('sort', `Unknown sort key: ${name}. Known are ${Object.keys(sorts).join(', ')}.`);
    else orderBy.push({ field, direction: descending ? 'DESC' : 'ASC' });
  }
  return orderBy.length > 0 ? orderBy : null;
}

function readFilter<Filter extends string, Sort extends string>(
  query: Query,
  { filters }: ListFields<Filter, Sort>,
  errors: FieldErrorList,
) {
  const filter: Partial<Record<Filter, Comparison>> = {};
  let any = false;
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || !/^filter(\[|$)/.test(key)) continue;
    const [, field = '', operator] = /^filter\[([^[\]]*)\](?:\[([^[\]]*)\])?(?:\[\])?$/.exec(key) ?? [];
    const at = field === '' ? 'filter' : `filter.${field}`;
    const [name, kind] = own(filters, field) ?? [];
    if (name === undefined || kind === undefined) {
      errors.add(
        at,
        `Unknown filter. Known are ${Object.keys(filters).join(', ')}, written as filter[field]=value or filter[field][operator]=value.`,
      );
      continue;
    }
    const comparison = compare(operator, typeof value === 'string' ? [value] : value, kind, at, errors);
    if (comparison) filter[name] = { ...filter[name], ...comparison };
    any = true;
  }
  return any ? filter : null;
}

function compare(
  word: string | undefined,
  values: readonly string[],
  kind: FilterKind,
  at: string,
  errors: FieldErrorList,
): Comparison | undefined {
  // `filter[f][]=a&filter[f][]=b`, and a filter that is repeated, mean one of several.
  const operator = word ? own(OPERATORS, word) : values.length > 1 || word === '' ? 'in' : 'eq';
  if (operator === undefined || (word && !operatorsOf(kind).includes(word))) {
    errors.add(at, `Unknown operator: ${word}. Known are ${operatorsOf(kind).join(', ')}.`);
    return undefined;
  }
  const [value = ''] = values;
  switch (operator) {
    case 'in':
    case 'notIn':
    case 'between': {
      const items = readValues(
        values.flatMap(text => text.split(',')),
        kind,
        at,
        errors,
      );
      if (operator === 'between' && items.length !== 2)
        errors.add(at, 'between takes two values: the lowest and the highest.');
      return { [operator]: items };
    }
    case 'isNull':
      if (/^(true|1|false|0)$/i.test(value)) return { isNull: /^(true|1)$/i.test(value) };
      errors.add(at, 'null takes true or false.');
      return undefined;
    default: {
      if (values.length > 1) errors.add(at, 'Takes one value.');
      const [read] = readValues([value], kind, at, errors);
      return read === undefined ? undefined : { [operator]: read };
    }
  }
}

const NUL = 'May not contain the character U+0000.';

function readValues(values: readonly string[], kind: FilterKind, at: string, errors: FieldErrorList): string[] {
  return values.flatMap(text => {
    const value = readValue(text, kind);
    if (typeof value === 'string') return value;
    errors.add(at, value.fault);
    return [];
  });
}

function readValue(text: string, kind: FilterKind): string | { readonly fault: string } {
  if (text.includes('\0')) return { fault: NUL };
  switch (kind) {
    case 'text':
      return text;
    case 'word':
    case 'choice':
      return text.trim().toLowerCase();
    case 'id':
      return /^\d{1,16}$/.test(text.trim()) && Number.isSafeInteger(Number(text))
        ? text.trim()
        : { fault: 'Must be an id: a whole number.' };
    case 'time':
      return (
        instantOf(text.trim()) ?? {
          fault: 'Must be a date or an instant by ISO 8601, for example 2026-01-31 or 2026-01-31T07:58:39+00:00.',
        }
      );
    case 'flag':
      return own(FLAGS, text.trim().toLowerCase()) ?? { fault: 'Must be true or false.' };
  }
}

/** As bodies write them. */
const FLAGS: Readonly<Record<string, string>> = { true: 'true', 1: 'true', false: 'false', 0: 'false' };

/** @returns undefined when the text is none, or lies before the year 1 */
function instantOf(text: string): string | undefined {
  // Our own timestamps, sent back as they are: the plus sign of the offset has become a space on the way.
  const mended = text.replace(/^(\d{4}-\d{2}-\d{2}T.*) (\d{2}:?\d{2})$/, '$1+$2');
  const time = /^(?!0000)\d{4}-\d{2}-\d{2}/.test(mended) ? Date.parse(mended) : Number.NaN;
  return Number.isNaN(time) || new Date(time).getUTCFullYear() < 1 ? undefined : new Date(time).toISOString();
}

/** A table's own entry: callers choose the key, and could name something that every object inherits. */
const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** The same conditions with every value written otherwise. */
export const eachValue = (comparison: Comparison, change: (word: string) => string): Comparison =>
  Object.fromEntries(
    Object.entries(comparison).map(([operator, value]: [string, unknown]) => [
      operator,
      typeof value === 'string'
        ? change(value)
        : Array.isArray(value)
          ? value.map(item => change(String(item)))
          : value,
    ]),
  );
