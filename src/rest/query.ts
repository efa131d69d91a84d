import type { FieldErrorList } from '../errors.ts';

/** The parameters of an address as Fastify gives them: repeated ones are lists. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A list parameter: with commas, repeated, or as `name[]`. */
export function listOf(query: Query, name: string): string[] {
  const values = [query[name] ?? [], query[`${name}[]`] ?? []].flat();
  return values
    .flatMap(value => value.split(','))
    .map(item => item.trim())
    .filter(item => item !== '');
}

/** A parameter that makes sense only once. @returns undefined when it is absent or empty */
export function single(query: Query, name: string, errors: FieldErrorList): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value?.trim() || undefined;
  errors.add(name, 'May be given only once.');
  return undefined;
}

/** Which fields of a row the caller wants to see. */
export interface Shown {
  shows(field: string): boolean;
  /** Takes away what is not shown. */
  pick(row: object): object;
}

/** What rows of one kind have: fields that are always there, and objects that `include` adds. */
export interface RowFields {
  readonly fields: readonly string[];
  readonly includes: readonly string[];
  readonly everything: Shown;
}

export function rowFields(fields: readonly string[], includes: readonly string[] = []): RowFields {
  const known = new Set(fields);
  // The usual case costs nothing: no set per request, no copy per row.
  return { fields, includes, everything: { shows: field => known.has(field), pick: row => row } };
}

/**
 * Reads `fields` and `include`. What is not shown need not be read either.
 * @param always shown besides, such as a contact's groups after it was changed
 */
export function readShown(
  query: Query,
  { fields, includes, everything }: RowFields,
  errors: FieldErrorList,
  always: readonly string[] = [],
): Shown {
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
  if (wanted.length === 0 && included.length === 0) return everything;
  const shown = new Set([...(wanted.length > 0 ? wanted : fields), ...included]);
  const shows = (field: string): boolean => shown.has(field);
  // Rows leave out by themselves what `include` did not ask for: only `fields` takes anything away.
  if (wanted.length === 0) return { shows, pick: row => row };
  return { shows, pick: row => Object.fromEntries(Object.entries(row).filter(([field]) => shows(field))) };
}
