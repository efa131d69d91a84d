import type { FieldErrorList } from './errors.ts';

/** Conditions by field and operator, and filters under `and`, `or` and `not`. */
export type Filter = Readonly<Record<string, unknown>>;

/** The arguments of a connection, as given by GraphQL. */
export interface ListArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
  readonly offset?: number | null | undefined;
  readonly search?: string | null | undefined;
  readonly filter?: Filter | null | undefined;
  readonly orderBy?: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[] | null | undefined;
}

/** Limits of a page, for GraphQL and REST. */
export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 20;

/** A greater offset would read too many rows only to discard them; cursors have no such limit. */
export const MAX_OFFSET = 1_000_000;

/** Limits of a filter: conditions in all, and levels of `and`, `or` and `not`. */
export const MAX_CONDITIONS = 20;
export const MAX_FILTER_DEPTH = 3;

/**
 * Adds a fault for each null in a filter that chooses what is written. A list ignores such a condition, as an omitted one; here the rest
 * would choose more than was meant, everything at worst.
 * @param path of the filter in the input
 */
export function refuseNullConditions(filter: Filter, path: string, errors: FieldErrorList): void {
  for (const [name, value] of Object.entries(filter)) {
    const at = `${path}.${name}`;
    if (value === null) errors.add(at, 'May not be null: use isNull, or omit the condition.', 'REQUIRED');
    else if (typeof value === 'object') refuseNullConditions(value as Filter, at, errors);
  }
}
