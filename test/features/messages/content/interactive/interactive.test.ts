import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CodedError } from '../../../../../src/core/errors.ts';
import { checkInteractive } from '../../../../../src/emulator/interactive.ts';
import {
  actionOf,
  type Choices,
  LIMITS,
} from '../../../../../src/features/messages/content/interactive/interactive.ts';
import { replyOf } from '../../../../../src/features/messages/content/interactive/reply.ts';

const text = (maxLength: number) =>
  fc
    .string({ minLength: 1, maxLength, unit: 'grapheme' })
    .filter(value => value.trim() !== '' && [...value].length <= maxLength && !value.includes('\0'));
const unique = <T>(items: fc.Arbitrary<T>, key: (item: T) => unknown, maxLength: number) =>
  fc.uniqueArray(items, { selector: key, minLength: 1, maxLength });

const buttons = unique(
  fc.record({ id: text(LIMITS.buttonId), title: text(LIMITS.buttonTitle) }),
  ({ title }) => title,
  LIMITS.buttons,
).filter(list => new Set(list.map(({ id }) => id)).size === list.length);
const row = fc.record({
  id: text(LIMITS.rowId),
  title: text(LIMITS.rowTitle),
  description: fc.option(text(LIMITS.rowDescription)),
});
const list = fc
  .tuple(
    text(LIMITS.listButton),
    unique(row, ({ id }) => id, LIMITS.rows),
    fc.integer({ min: 1, max: 3 }),
    text(LIMITS.sectionTitle),
  )
  .map(([button, rows, count, title]) => ({
    button,
    sections: Array.from({ length: count }, (_, section) => ({
      title,
      rows: rows.filter((_row, index) => index % count === section),
    })).filter(section => section.rows.length > 0),
  }));
const ctaUrl = fc.record({ displayText: text(LIMITS.linkText), url: fc.webUrl() });

const faults = (choices: Choices): Record<string, string[]> => {
  try {
    actionOf(choices);
    return {};
  } catch (error) {
    if (error instanceof CodedError && error.code === 'VALIDATION_ERROR')
      return error.details as Record<string, string[]>;
    throw error;
  }
};

test('the network accepts every message that we accept', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        buttons.map(value => ({ buttons: value })),
        list.map(value => ({ list: value })),
        ctaUrl.map(value => ({ ctaUrl: value })),
      ),
      choices => {
        const { type, action } = actionOf(choices);
        checkInteractive({ type, body: { text: 'What will it be?' }, action });
      },
    ),
  );
});

describe('exceeding a limit is an error of its field', () => {
  const button = (change: object = {}) => ({ id: 'a', title: 'A', ...change });
  const rowOf = (index: number, change: object = {}) => ({ id: String(index), title: 'Row', ...change });
  const rows = (count: number) => Array.from({ length: count }, (_, index) => rowOf(index));
  const listOf = (change: object = {}) => ({
    list: { button: 'Choose', sections: [{ title: 'One', rows: rows(1) }], ...change },
  });

  test.each<[string, Choices, string[]]>([
    ['nothing to choose', {}, ['buttons']],
    [
      'two kinds of choice',
      { buttons: [button()], ctaUrl: { displayText: 'Go', url: 'https://example.com' } },
      ['ctaUrl'],
    ],
    ['no button', { buttons: [] }, ['buttons']],
    ['four buttons', { buttons: [1, 2, 3, 4].map(n => button({ id: `${n}`, title: `${n}` })) }, ['buttons']],
    ['a title of 21 characters', { buttons: [button({ title: 'x'.repeat(21) })] }, ['buttons.0.title']],
    ['an empty title', { buttons: [button({ title: ' ' })] }, ['buttons.0.title']],
    ['an id of 257 characters', { buttons: [button({ id: 'x'.repeat(257) })] }, ['buttons.0.id']],
    ['two titles the same', { buttons: [button(), button({ id: 'b' })] }, ['buttons.1.title']],
    ['two ids the same', { buttons: [button(), button({ title: 'B' })] }, ['buttons.1.id']],
    ['a list button of 21 characters', listOf({ button: 'x'.repeat(21) }), ['list.button']],
    ['no section', listOf({ sections: [] }), ['list.sections']],
    ['a section without rows', listOf({ sections: [{ title: 'One', rows: [] }] }), ['list.sections.0.rows']],
    [
      'eleven rows in two sections',
      listOf({
        sections: [
          { title: 'One', rows: rows(6) },
          { title: 'Two', rows: rows(11).slice(6) },
        ],
      }),
      ['list.sections'],
    ],
    [
      'two sections, one without a title',
      listOf({ sections: [{ title: 'One', rows: [rowOf(1)] }, { rows: [rowOf(2)] }] }),
      ['list.sections.1.title'],
    ],
    [
      'a section title of 25 characters',
      listOf({ sections: [{ title: 'x'.repeat(25), rows: rows(1) }] }),
      ['list.sections.0.title'],
    ],
    [
      'a row title of 25 characters',
      listOf({ sections: [{ rows: [rowOf(0, { title: 'x'.repeat(25) })] }] }),
      ['list.sections.0.rows.0.title'],
    ],
    [
      'a row id of 201 characters',
      listOf({ sections: [{ rows: [rowOf(0, { id: 'x'.repeat(201) })] }] }),
      ['list.sections.0.rows.0.id'],
    ],
    [
      'a description of 73 characters',
      listOf({ sections: [{ rows: [rowOf(0, { description: 'x'.repeat(73) })] }] }),
      ['list.sections.0.rows.0.description'],
    ],
    [
      'two rows the same, in different sections',
      listOf({
        sections: [
          { title: 'One', rows: [rowOf(1)] },
          { title: 'Two', rows: [rowOf(1)] },
        ],
      }),
      ['list.sections.1.rows.0.id'],
    ],
    [
      'a link text of 21 characters',
      { ctaUrl: { displayText: 'x'.repeat(21), url: 'https://example.com' } },
      ['ctaUrl.displayText'],
    ],
    ['a link that is no address', { ctaUrl: { displayText: 'Go', url: 'example' } }, ['ctaUrl.url']],
    ['a link that runs code', { ctaUrl: { displayText: 'Go', url: 'javascript:alert(1)' } }, ['ctaUrl.url']],
  ])('%s', (_what, choices, fields) => {
    expect(Object.keys(faults(choices))).toEqual(fields);
  });

  test('characters are counted as code points', () => {
    expect(faults({ buttons: [button({ title: '👍'.repeat(20) })] })).toEqual({});
  });
});

test('a reply shows the choice for any content of the network', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('inbound', 'outbound'),
      fc.constantFrom('button', 'interactive', 'text'),
      fc.dictionary(fc.constantFrom('payload', 'text', 'button_reply', 'list_reply'), fc.jsonValue()),
      (direction, type, content) => {
        const reply = replyOf({ direction, type, content });
        if (reply) for (const value of [reply.id, reply.title]) expect(typeof value).toBe('string');
        if (direction === 'outbound' || type === 'text') expect(reply).toBeNull();
      },
    ),
  );
});
