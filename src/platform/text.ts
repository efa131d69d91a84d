/** Characters as people count them: code points, not UTF-16 units. */
export const lengthOf = (text: string): number => (text.length < 100 ? text.length : [...text].length);

/** Whether a text can be stored: PostgreSQL has no U+0000, and neither UTF-8 nor jsonb has half a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
