import { CodedError, FieldErrorList } from '../../core/errors.ts';

/** The merge field of a column of the list: `@{column.code|none}`. */
export const columnField = (column: string): string => `column.${column}`;

/** The values of a row of the list by merge field. */
export const columnValues = (values: Readonly<Record<string, string>> | null): Record<string, string> =>
  Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [columnField(name), value]));

/**
 * An error of a template without its unknown merge fields, which the check of a template adds to its other faults: a template alone does
 * not know the columns of a list. `parseCampaign` checks merge fields itself.
 */
export function withoutMergeFaults(error: unknown): unknown {
  if (!(error instanceof CodedError)) return error;
  const others = error.faults.filter(({ code }) => code !== 'UNKNOWN_MERGE_FIELD');
  if (others.length === 0 || others.length === error.faults.length) return error;
  const errors = new FieldErrorList();
  errors.include(others);
  return errors.toError();
}
