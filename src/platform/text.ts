/** Characters as people count them: code points, not UTF-16 units. */
export const lengthOf = (text: string): number => [...text].length;

/** Whether a text has more characters than it may. Those that are counted are never more than the units, which cost nothing to count. */
export const isLonger = (text: string, max: number): boolean => text.length > max && lengthOf(text) > max;

/** Whether a text can be stored: PostgreSQL has no U+0000, and neither UTF-8 nor jsonb has half a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
