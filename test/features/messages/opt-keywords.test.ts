import { expect, test } from 'vitest';
import { isWord, wordSet } from '../../../src/features/messages/opt-keywords.ts';

test('an opt-out keyword ignores diacritics, in the list and in the message, but not letters of other scripts', () => {
  const words = wordSet(['Arrêt', 'aufhören', 'रोको', 'หยุด', 'стой', 'להפסיק', 'STRASSE']);
  for (const text of ['arret', 'ARRÊT', 'arre\u0302t', 'Aufhoren!', 'रोको', 'หยุด', 'СТОЙ', 'להפסיק', 'straße'])
    expect(isWord(text, words), text).toBe(true);
  for (const text of ['रका', 'หยด', 'aufhoeren', 'ar ret']) expect(isWord(text, words), text).toBe(false);
});

test('an opt-out keyword is the whole message, ignoring case, spaces and punctuation', () => {
  for (const text of ['STOP', ' stop ', 'Stop.', '¡Stop!', 'ＳＴＯＰ'])
    expect(isWord(text, wordSet(['stop']))).toBe(true);
  for (const text of ["don't stop", 'stop it', 'stopp', '', '.']) expect(isWord(text, wordSet(['stop']))).toBe(false);
  expect(isWord('Stop  promotions!', wordSet(['stop promotions']))).toBe(true);
});
