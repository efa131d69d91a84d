import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from '../../../../src/features/contacts/exports/csv.ts';

const read = (text: string): string[][] => parse(text, { relax_column_count: true, record_delimiter: '\r\n' });

test('every line reads as the texts it was made of, apart from the guard of formulas', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.string({ unit: 'binary' }), { minLength: 2, maxLength: 5 }), { minLength: 1 }),
      rows => {
        const records = read(rows.map(csvLine).join(''));
        expect(records.map(cells => cells.map(cell => cell.replace(/^'/, '')))).toEqual(
          rows.map(cells => cells.map(cell => cell.replace(/^'/, ''))),
        );
      },
    ),
  );
});

test('no cell begins as a formula, in any spelling, and numbers and phone numbers stay as they are', () => {
  const dangerous = [
    '=1+1',
    '+cmd|x',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    ' =1',
    '＝1+1',
    '|calc',
    '%0A',
    '+49 151',
    '--1',
  ];
  for (const text of dangerous) expect(read(csvLine([text, 'x']))[0], text).toEqual([`'${text}`, 'x']);
  for (const text of ['+4915112345678', '-12', '-12.5', '17', 'a=b', "'=1", ''])
    expect(read(csvLine([text, 'x']))[0], text).toEqual([text, 'x']);
});

test('null is empty, lists are joined, objects are JSON', () => {
  expect(csvLine([null, undefined, true, 7, ['a', '=b'], { text: 'He said "hi"' }])).toBe(
    ',,true,7,a; =b,"{""text"":""He said \\""hi\\""""}"\r\n',
  );
});
