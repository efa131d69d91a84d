/** Characters as people count them: code points, not UTF-16 units. */
export const lengthOf = (text: string): number => (text.length < 100 ? text.length : [...text].length);

/**
 * Why a text cannot be stored, in words for its sender: PostgreSQL has no U+0000 in text, and neither it nor JSON has half
 * a surrogate pair. @returns undefined when it can
 */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'May not contain the character U+0000.';
  return text.isWellFormed() ? undefined : 'May not contain half a surrogate pair.';
}
