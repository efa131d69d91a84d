import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Trigger } from '../../../../src/features/bots/bot.ts';
import { matchInput, matchOf, normalise, textsOf } from '../../../../src/features/bots/engine/match.ts';
import { MAX_PATTERN, Patterns, patternFault } from '../../../../src/features/bots/engine/pattern.ts';
import { costOf } from '../../../support/durations.ts';

/** Of processor time, far more than it takes on a slow machine too; other engines would need years. */
const MOMENT_MS = 5_000;

const patterns = new Patterns();
const matches = (trigger: Trigger, keyword: string, text: string, isFirst = false): boolean =>
  matchOf({ trigger, keywords: [keyword], pattern: keyword }, patterns)(matchInput([text], isFirst)) !== undefined;

const words = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const keywords = words.filter(word => normalise(word) !== '');

describe('normalisation', () => {
  test('ignores case, width, composition and white space', () => {
    expect(normalise('  Ｈello\t\n WORLD ')).toBe('hello world');
    expect(normalise('Cafe\u0301')).toBe(normalise('CAFÉ'));
    expect(normalise('ΟΔΟΣ')).toBe(normalise('οδος'));
    expect(normalise('ﬁsh')).toBe('fish');
    expect(normalise('STRASSE')).toBe(normalise('straße'));
    // Of the Turkish alphabet, on phones that are set to it and on phones that are not.
    for (const word of ['İSTANBUL', 'ISTANBUL', 'ıstanbul']) expect(normalise(word)).toBe('istanbul');
    // An accent is another letter, as people and dictionaries have it.
    expect(normalise('año')).not.toBe(normalise('ano'));
  });

  test.each([
    ['❤', '❤\ufe0f'],
    ['שלום', '\u200fשלום'],
    ['نعم', '\u202bنعم\u202c'],
    ['میخواهم', 'می\u200cخواهم'],
    ['ja', 'j\u00ada\ufeff'],
  ])('whatever stands in them that is not seen: %s', (plain, marked) =>
    expect(normalise(marked)).toBe(normalise(plain)),
  );

  test('keeps visible differences: skin tone, vowel signs, accents', () => {
    expect(normalise('👍🏽')).not.toBe(normalise('👍'));
    expect(normalise('مَرحبا')).not.toBe(normalise('مرحبا'));
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), text => {
        expect(normalise(normalise(text))).toBe(normalise(text));
      }),
    );
  });

  test('is idempotent for every letter of the first planes', () => {
    const faults: string[] = [];
    for (let code = 0; code < 0x20000; code += 1) {
      const form = normalise(`a${String.fromCodePoint(code)}b`);
      if (normalise(form) !== form) faults.push(code.toString(16));
    }
    expect(faults).toEqual([]);
  });
});

describe('a keyword', () => {
  test('an exact match is also a prefix, and a prefix is also contained', () => {
    fc.assert(
      fc.property(keywords, fc.oneof(words, keywords), (keyword, text) => {
        if (matches('exact', keyword, text)) expect(matches('starts_with', keyword, text)).toBe(true);
        if (matches('starts_with', keyword, text)) expect(matches('contains', keyword, text)).toBe(true);
        if (matches('contains', keyword, text)) expect(matches('any', keyword, text)).toBe(true);
        expect(matches('exact', keyword, `  ${keyword.toUpperCase()} `)).toBe(
          normalise(keyword) === normalise(keyword.toUpperCase()),
        );
        expect(matches('exact', keyword, keyword)).toBe(true);
        expect(matches('starts_with', keyword, `${keyword} ${text}`)).toBe(true);
        expect(matches('contains', keyword, `${text} ${keyword} ${text}`)).toBe(true);
      }),
    );
  });

  test('without visible characters matches nothing', () => {
    for (const trigger of ['exact', 'starts_with', 'contains'] as const)
      for (const text of ['', '\u200b', 'anything']) expect(matches(trigger, '\u200b', text)).toBe(false);
  });

  test('matches within a word and is reported as written', () => {
    const match = matchOf({ trigger: 'contains', keywords: ['xyz', 'Hi', 'which'], pattern: null }, patterns);
    expect(match(matchInput(['In which shop?'], false))).toEqual({ trigger: 'contains', keyword: 'Hi' });
    expect(match(matchInput(['No'], false))).toBeUndefined();
    expect(match(matchInput([], false))).toBeUndefined();
  });
});

describe('texts of a message', () => {
  test('are its text, and for a reply the title and id', () => {
    const message = { direction: 'inbound', type: 'text', body: 'Hello', content: {} } as const;
    expect(textsOf(message)).toEqual(['Hello']);
    const reply = {
      ...message,
      type: 'interactive',
      body: 'More',
      content: { button_reply: { id: 'b', title: 'More' } },
    };
    expect(textsOf(reply)).toEqual(['More', 'b']);
    expect(textsOf({ ...message, type: 'sticker', body: null })).toEqual([]);
  });

  test('may be empty: some bots answer every message', () => {
    expect(matches('any', '', '')).toBe(true);
    expect(matches('first_message', '', 'x', true)).toBe(true);
    expect(matches('first_message', '', 'x', false)).toBe(false);
  });
});

describe('a pattern', () => {
  test('matches anywhere and ignores case by default', () => {
    expect(matches('regex', 'pric(e|ing)', 'Your PRICING, please')).toBe(true);
    expect(matches('regex', String.raw`^\s*hi\b`, ' Hi  there')).toBe(true);
    expect(matches('regex', String.raw`\bhi\b`, 'which')).toBe(false);
    expect(matches('regex', '(?-i)ABC', 'abc')).toBe(false);
    expect(matches('regex', '^größe$', 'GRÖßE')).toBe(true);
  });

  test.each(['(a+)+$', '(a|aa)+$', '(a*)*b', '(.*a){20}$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y'])(
    'that ruins other engines takes a moment: %s',
    async pattern => {
      expect(patternFault(pattern)).toBeUndefined();
      const text = `${'a'.repeat(4_000)}!`;
      const cost = await costOf(() => {
        for (const one of [text, text.slice(0, -1), 'x'.repeat(4_000)]) matches('regex', pattern, one);
      });
      expect(cost).toBeLessThan(MOMENT_MS);
    },
  );

  test('of the maximum size is fast, and a larger one is rejected', async () => {
    const greatest = String.raw`\pL{490}!`;
    expect(patternFault(greatest)).toBeUndefined();
    const cost = await costOf(() => expect(matches('regex', greatest, 'ä'.repeat(4_000))).toBe(false));
    expect(cost).toBeLessThan(MOMENT_MS);
    for (const pattern of [String.raw`\pL{501}`, '(a{1,50}){1,20}', 'x'.repeat(MAX_PATTERN + 1)])
      expect(patternFault(pattern)).toMatch(/Is too complex|May have at most/);
  });

  test.each(['(', '(?=x)', String.raw`(a)\1`, '(?<!x)y', '[z-a]', '*', '  '])(
    'that is invalid is rejected: %s',
    pattern => expect(patternFault(pattern)).toMatch(/^Is (not a valid RE2 expression|required)/),
  );

  test('never throws while matching, for any pattern and text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 50 }),
        (pattern, text) => {
          if (patternFault(pattern) === undefined) expect(typeof matches('regex', pattern, text)).toBe('boolean');
        },
      ),
    );
  });
});
