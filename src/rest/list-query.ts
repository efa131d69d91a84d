import type { FieldErrorList } from '../errors.ts';
import { type Filters, type FiltersOf, NUL, own, readFilter } from './filter.ts';
import { listOf, type Query, single } from './query.ts';

/** What a list can be filtered and sorted by: the wire's names with GraphQL's. */
export interface ListFields<Filter, Sort extends string> {
  readonly filters: FiltersOf<Filter>;
  readonly sorts: Readonly<Record<string, Sort>>;
}

/** The same of any list. */
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

export const MAX_PER_PAGE = 100;
export const DEFAULT_PER_PAGE = 15;
/** As far as numbered pages go; beyond, every page would read all those before it. */
const MAX_OFFSET = 1_000_000;

/** Reads the parameters of a list; every fault goes to `errors` under its parameter's name. */
export function readList<Filter, Sort extends string>(
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

function readSort<Sort extends string>(query: Query, sorts: Readonly<Record<string, Sort>>, errors: FieldErrorList) {
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
