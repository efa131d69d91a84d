import type { DocumentNode } from 'graphql';
import type { FieldErrorList } from '../errors.ts';
import { type Switches, switchesOf, switchOf } from './sparse.ts';

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

/** What rows of one kind have: fields that are always there, and objects that `include` adds. */
export interface RowFields {
  readonly fields: readonly string[];
  readonly includes: readonly string[];
}

/** The fields of a document's rows: its switches say which. */
export const rowFields = (document: DocumentNode): RowFields => switchesOf(document);

/** The usual case costs nothing: no switch is set, and the document's own settings hold. */
const USUAL: Switches = {};

/**
 * Reads `fields` and `include` into the switches of the row's document: what is not shown is not read.
 * @param always shown besides, such as a contact's groups after it was changed
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
  if (wanted.length === 0 && included.length === 0) return USUAL;
  const switches: Record<string, boolean> = {};
  if (wanted.length > 0) for (const field of fields) switches[switchOf(field)] = wanted.includes(field);
  for (const field of includes) switches[switchOf(field)] = wanted.includes(field) || included.includes(field);
  return switches;
}
