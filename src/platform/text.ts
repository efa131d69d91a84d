/** Length in code points, not UTF-16 units. */
export const lengthOf = (text: string): number => [...text].length;

/** Whether a text exceeds a length in code points. Counts them only if there are more UTF-16 units than that. */
export const isLonger = (text: string, max: number): boolean => text.length > max && lengthOf(text) > max;

/** Whether PostgreSQL can store a text: no U+0000 and no unpaired surrogates. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** A text as PostgreSQL can store it: without U+0000, and with U+FFFD for unpaired surrogates. */
export const toStorable = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The validation error of a text that is not storable. */
export const UNSTORABLE = 'Must not contain the character U+0000 or an unpaired surrogate.';

/**
 * Normalises a text for comparison: removes case, diacritics, punctuation, emoji and repeated spaces. Combining marks that are letters of
 * their script (vowels of Hindi or Thai) stay. In Arabic the hamza of a letter, which many do not type, and tatweel are removed.
 * @example foldText(' ¡ARRÊT! ') // 'arret'
 */
export const foldText = (text: string): string =>
  text
    .normalize('NFKD')
    // Upper case first: it makes SS of ß, as people type it in capitals.
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\p{Diacritic}\p{Variation_Selector}\p{Me}\u0640\u0653-\u0655]/gu, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
