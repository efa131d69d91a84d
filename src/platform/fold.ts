/**
 * Normalises a text for comparison: removes case, diacritics, punctuation and repeated spaces. Combining marks that are letters of
 * their script (vowels of Hindi or Thai) stay.
 * @example foldText(' ¡ARRÊT! ') // 'arret'
 */
export const foldText = (text: string): string =>
  text
    .normalize('NFKD')
    // Upper case first: it makes SS of ß, as people type it in capitals.
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{Diacritic}/gu, '')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
