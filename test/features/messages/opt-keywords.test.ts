import { expect, test } from 'vitest';
import { isWord, wordSet } from '../../../src/features/messages/opt-keywords.ts';

test('an opt-out keyword ignores diacritics, in the list and in the message, but not letters of other scripts', () => {
  const words = wordSet(['Arrêt', 'aufhören', 'रोको', 'หยุด', 'стой', 'להפסיק', 'STRASSE']);
  for (const text of ['arret', 'ARRÊT', 'arre\u0302t', 'Aufhoren!', 'रोको', 'หยุด', 'СТОЙ', 'להפסיק', 'straße'])
    expect(isWord(text, words), text).toBe(true);
  for (const text of ['रका', 'หยด', 'aufhoeren', 'ar ret']) expect(isWord(text, words), text).toBe(false);
});

test('an opt-out keyword ignores how Arabic is written, and emoji beside it', () => {
  const words = wordSet(['إلغاء', 'stop']);
  // Without hamza, as most people type it; with vowels; stretched.
  for (const text of ['الغاء', 'إِلْغَاء', 'إلغـــاء', 'إلغاء!', '\u200fالغاء'])
    expect(isWord(text, words), text).toBe(true);
  // Many emoji have a variation selector, which is a mark.
  for (const text of ['STOP \u2639\uFE0F', '\u270B\uFE0F stop', 'Stop\uFE0F', '*️⃣ stop'])
    expect(isWord(text, words), text).toBe(true);
  for (const text of ['الغ', 'stop 1\uFE0F\u20E3']) expect(isWord(text, words), text).toBe(false);
  expect(isWord('stop', wordSet(['ستوب', 'إيقاف']))).toBe(false);
});

test('an opt-out keyword is the whole message, ignoring case, spaces and punctuation', () => {
  for (const text of ['STOP', ' stop ', 'Stop.', '¡Stop!', 'ＳＴＯＰ'])
    expect(isWord(text, wordSet(['stop']))).toBe(true);
  for (const text of ["don't stop", 'stop it', 'stopp', '', '.']) expect(isWord(text, wordSet(['stop']))).toBe(false);
  expect(isWord('Stop  promotions!', wordSet(['stop promotions']))).toBe(true);
});
