import { FieldErrorList } from '../../../core/errors.ts';
import type { ContentFields, GivenContent } from '../send/content-schema.ts';

export interface CannedReplyRow {
  readonly id: number;
  /** Shortcut by which staff find it. */
  readonly shortcut: string;
  readonly title: string;
  /** As its input had it, with exactly one field. */
  readonly content: ContentFields;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CannedReplyInput {
  readonly shortcut?: string | null | undefined;
  readonly title?: string | null | undefined;
  readonly content?: GivenContent | null | undefined;
}

export const MAX_SHORTCUT = 50;
export const MAX_TITLE = 100;

/** The texts to write. @param partial for an update: omitted fields keep their values @throws VALIDATION_ERROR with all faults */
export function parseCannedReply(
  input: Partial<CannedReplyInput>,
  partial: boolean,
): { readonly shortcut?: string; readonly title?: string } {
  const errors = new FieldErrorList();
  if (partial) errors.refuseNull(input, ['shortcut', 'title', 'content']);
  const parse = (field: 'shortcut' | 'title', maximum: number): string | undefined => {
    const text = input[field]?.trim();
    if (text === undefined ? !partial : text === '') errors.add(field, 'Is required.', 'REQUIRED');
    else if (text !== undefined && [...text].length > maximum)
      errors.add(field, `May have at most ${maximum} characters.`, 'TOO_LONG');
    else if (field === 'shortcut' && text !== undefined && /\s/.test(text))
      errors.add(field, 'May not contain white space.');
    return text;
  };
  const shortcut = parse('shortcut', MAX_SHORTCUT);
  const title = parse('title', MAX_TITLE);
  errors.throwIfAny();
  return { ...(shortcut !== undefined && { shortcut }), ...(title !== undefined && { title }) };
}
