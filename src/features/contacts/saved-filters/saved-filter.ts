import { FieldErrorList } from '../../../core/errors.ts';
import { type Filter, refuseNullConditions } from '../../../core/list-args.ts';
import { isLonger } from '../../../platform/text.ts';
import { contactsWhere } from '../list.ts';

export const MAX_NAME = 100;
/** Per account. */
export const MAX_SAVED = 500;
/** Characters of a filter as JSON: a thousand ids have some 40,000. */
const MAX_FILTER = 100_000;

export interface SavedFilterRow {
  readonly id: number;
  readonly name: string;
  readonly filter: Filter;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface SavedFilterInput {
  readonly name?: string | null | undefined;
  readonly filter?: Filter | null | undefined;
}

export type SavedFilterFields = Pick<SavedFilterRow, 'name' | 'filter'>;

/**
 * The fields to write.
 * @param partial for an update: omitted fields keep their values
 * @throws VALIDATION_ERROR
 */
export function parseSavedFilter(
  tenantId: number,
  input: SavedFilterInput,
  partial: boolean,
): Partial<SavedFilterFields> {
  const errors = new FieldErrorList();
  const name = input.name?.trim();
  if (partial) errors.refuseNull(input, ['name', 'filter']);
  if (name === undefined ? !partial : name === '') errors.add('name', 'Is required.', 'REQUIRED');
  else if (name !== undefined && isLonger(name, MAX_NAME))
    errors.add('name', `May have at most ${MAX_NAME} characters.`, 'TOO_LONG');
  const filter = input.filter ?? undefined;
  if (filter && JSON.stringify(filter).length > MAX_FILTER)
    errors.add('filter', `May have at most ${MAX_FILTER} characters as JSON.`, 'TOO_LONG');
  else if (filter) refuseNullConditions(filter, 'filter', errors);
  errors.throwIfAny();
  // Refuses what a list of contacts would refuse.
  if (filter) contactsWhere(tenantId, filter);
  return { ...(name !== undefined && { name }), ...(filter && { filter }) };
}
