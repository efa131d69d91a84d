import { FieldErrorList } from '../../../core/errors.ts';

export interface TagRow {
  readonly id: number;
  readonly name: string;
  /** `#RRGGBB`. */
  readonly color: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface TagInput {
  readonly name?: string | null | undefined;
  readonly color?: string | null | undefined;
}

export const MAX_TAG_NAME = 50;
export const DEFAULT_COLOR = '#757575';
const COLOR = /^#[0-9a-fA-F]{6}$/;

/** The fields to write. @param partial for an update: omitted fields keep their values @throws VALIDATION_ERROR with all faults */
export function parseTag(input: TagInput, partial: boolean): { readonly name?: string; readonly color?: string } {
  const errors = new FieldErrorList();
  if (partial) errors.refuseNull(input, ['name', 'color']);
  const { name, color } = input;
  const trimmed = name?.trim();
  if (trimmed === undefined ? !partial : trimmed === '') errors.add('name', 'Is required.', 'REQUIRED');
  else if (trimmed !== undefined && [...trimmed].length > MAX_TAG_NAME)
    errors.add('name', `May have at most ${MAX_TAG_NAME} characters.`, 'TOO_LONG');
  if (color != null && !COLOR.test(color)) errors.add('color', 'Must be a color as #RRGGBB.');
  errors.throwIfAny();
  return {
    ...(trimmed !== undefined && { name: trimmed }),
    ...(color != null ? { color: color.toLowerCase() } : partial ? {} : { color: DEFAULT_COLOR }),
  };
}
