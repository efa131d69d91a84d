import type { FieldErrorList } from '../../core/errors.ts';
import { MAX_OFFSET, MAX_PAGE_SIZE } from '../../core/list-args.ts';
import { NUL } from './fields.ts';
import { type Filters, type FiltersOf, ownEntry, type Query, readFilter } from './filter.ts';
import { type RowFields, type Switches, switchOf } from './sparse.ts';

/** A list parameter: with commas, repeated, or as `name[]`. */
export function listOf(query: Query, name: string): string[] {
  const values = [query[name] ?? [], query[`${name}[]`] ?? []].flat();
  return values
    .flatMap(value => value.split(','))
    .map(item => item.trim())
    .filter(item => item !== '');
}

/** Reads a parameter that may be given only once. @returns undefined if it is missing or empty */
function singleValue(query: Query, name: string, errors: FieldErrorList): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value?.trim() || undefined;
  errors.add(name, 'May be given only once.');
  return undefined;
}

/** Without `fields` and `include` the document's defaults apply. */
const DEFAULTS: Switches = {};

/**
 * Reads `fields` and `include` into the switches of the row's document, so that hidden fields are not read.
 * @param always included objects in addition, such as the groups of a changed contact
 */
export function readShown(
  query: Query,
  { fields, includes }: RowFields,
  errors: FieldErrorList,
  always: readonly string[] = [],
): Switches {
  const wanted = listOf(query, 'fields');
  const included = [...always, ...listOf(query, 'include')];
  for (const name of wanted) {
    if (!fields.includes(name) && !includes.includes(name))
      errors.add('fields', `Unknown field: ${name}. Known are ${[...fields, ...includes].join(', ')}.`);
  }
  for (const name of included) {
    if (!includes.includes(name))
      errors.add('include', `Unknown: ${name}. Known are ${includes.join(', ') || 'none'}.`);
  }
  if (wanted.length === 0 && included.length === 0) return DEFAULTS;
  const switches: Record<string, boolean> = {};
  if (wanted.length > 0) for (const field of fields) switches[switchOf(field)] = wanted.includes(field);
  for (const field of includes) switches[switchOf(field)] = wanted.includes(field) || included.includes(field);
  return switches;
}

/** Filter and sort fields of a list: names of the wire with those of GraphQL. */
export interface ListFields<Filter, Sort extends string> {
  readonly filters: FiltersOf<Filter>;
  readonly sorts: Readonly<Record<string, Sort>>;
}

/** The same for any list. */
export interface AnyListFields {
  readonly filters: Filters;
  readonly sorts: Readonly<Record<string, string>>;
}

/** The arguments of a connection. */
export interface ListArguments<Filter, Sort extends string> {
  readonly first: number;
  readonly offset: number;
  readonly search: string | null;
  readonly filter: Filter | null;
  readonly orderBy: readonly { readonly field: Sort; readonly direction: 'ASC' | 'DESC' }[] | null;
}

/** The REST contract's default; GraphQL has its own. */
export const DEFAULT_PER_PAGE = 15;

/** Reads the parameters of a list; every fault goes to `errors` under its parameter's name. */
export function readList<Filter, Sort extends string>(
  query: Query,
  fields: ListFields<Filter, Sort>,
  errors: FieldErrorList,
): ListArguments<Filter, Sort> {
  const page = wholeNumber(query, 'page', 1, Number.MAX_SAFE_INTEGER, errors) ?? 1;
  const first = wholeNumber(query, 'per_page', 1, MAX_PAGE_SIZE, errors) ?? DEFAULT_PER_PAGE;
  const offset = (page - 1) * first;
  if (offset > MAX_OFFSET) errors.add('page', `Pages end at row ${MAX_OFFSET}: narrow the list by a filter.`);
  return {
    first,
    offset,
    search: readSearch(query, errors),
    filter: readFilter(query, fields.filters, errors),
    orderBy: readSort(query, fields.sorts, errors),
  };
}

function wholeNumber(
  query: Query,
  name: string,
  minimum: number,
  maximum: number,
  errors: FieldErrorList,
): number | undefined {
  const text = singleValue(query, name, errors);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  errors.add(
    name,
    maximum === MAX_PAGE_SIZE
      ? `Must be a whole number from ${minimum} to ${maximum}.`
      : `Must be a whole number from ${minimum} on.`,
  );
  return undefined;
}

function readSearch(query: Query, errors: FieldErrorList): string | null {
  const name = query['search'] === undefined ? 'q' : 'search';
  const text = singleValue(query, name, errors) ?? null;
  if (text?.includes('\0')) errors.add(name, NUL);
  return text;
}

function readSort<Sort extends string>(query: Query, sorts: Readonly<Record<string, Sort>>, errors: FieldErrorList) {
  const orderBy: { field: Sort; direction: 'ASC' | 'DESC' }[] = [];
  for (const key of listOf(query, 'sort')) {
    const descending = key.startsWith('-');
    // A leading plus sign decodes to a space, which is trimmed.
    const name = descending ? key.slice(1) : key;
    const field = ownEntry(sorts, name);
    if (field === undefined)
      errors.add('sort', `Unknown sort key: ${name}. Known are ${Object.keys(sorts).join(', ')}.`);
    else orderBy.push({ field, direction: descending ? 'DESC' : 'ASC' });
  }
  return orderBy.length > 0 ? orderBy : null;
}
