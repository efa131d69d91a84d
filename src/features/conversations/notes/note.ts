import type { Author } from '../../../core/author.ts';
import { FieldErrorList } from '../../../core/errors.ts';

export interface NoteRow {
  readonly id: number;
  readonly contact_id: number;
  /** Null: about the contact. */
  readonly conversation_id: number | null;
  readonly body: string;
  readonly author: Author;
  readonly created_at: string;
  readonly updated_at: string;
}

export const MAX_NOTE = 10_000;

/** @throws VALIDATION_ERROR on `body` */
export function parseBody(body: string): string {
  const text = body.trim();
  const errors = new FieldErrorList();
  if (text === '') errors.add('body', 'Is required.', 'REQUIRED');
  else if ([...text].length > MAX_NOTE) errors.add('body', `May have at most ${MAX_NOTE} characters.`, 'TOO_LONG');
  errors.throwIfAny();
  return text;
}
