import { expect, test } from 'vitest';
import { type CsvRow, parseCsv, streamCsv, UNCLOSED_QUOTE } from '../../src/platform/csv.ts';

const cellsOf = (text: string) => parseCsv(text)?.map(({ cells }) => cells);

test('quotes, doubled quotes, line breaks in quotes, a byte order mark and empty lines are read as RFC 4180 specifies', () => {
  expect(cellsOf('\uFEFFphone,name\r\n"+49 1","Ana ""A"" Silva"\r\n\r\n+49 2,"two\nlines"\n')).toEqual([
    ['phone', 'name'],
    ['+49 1', 'Ana "A" Silva'],
    ['+49 2', 'two\nlines'],
  ]);
  expect(parseCsv('a\n"b\nc"\nd')?.map(({ line }) => line)).toEqual([1, 2, 4]);
});

test('a record has the number of its line with any line ending', () => {
  const text = 'a,b\n1,2\n\n3,"x\ny"\n5,6\n';
  for (const each of [text, text.replaceAll('\n', '\r\n'), text.trimEnd().replaceAll('\n', '\r\n')])
    expect(parseCsv(each)?.map(({ line }) => line)).toEqual([1, 2, 4, 6]);
});

test('the delimiter is the most frequent one in the first line', () => {
  expect(cellsOf('phone;name, first;code\n1;a,b;2')).toEqual([
    ['phone', 'name, first', 'code'],
    ['1', 'a,b', '2'],
  ]);
  expect(cellsOf('phone\tname\n1\ta,b')).toEqual([
    ['phone', 'name'],
    ['1', 'a,b'],
  ]);
});

test('a first line that announces the delimiter is no row, and the delimiter is found after empty lines and line breaks in quotes', () => {
  for (const end of ['\n', '\r\n', '\r'])
    expect(parseCsv(`\uFEFFsep=;${end}phone;"name, first"${end}1;a,b${end}`)).toEqual([
      { line: 2, cells: ['phone', 'name, first'] },
      { line: 3, cells: ['1', 'a,b'] },
    ]);
  expect(cellsOf('SEP=|\nphone|name\n1|a')).toEqual([
    ['phone', 'name'],
    ['1', 'a'],
  ]);
  expect(cellsOf('\n\n"phone\nnumber";name\n1;a,b,c')).toEqual([
    ['phone\nnumber', 'name'],
    ['1', 'a,b,c'],
  ]);
});

test('an unterminated quoted field is refused', () => {
  expect(parseCsv('phone\n"+49')).toBeUndefined();
});

/** Numbers that look random and are the same in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

test('any cells written as CSV are read back unchanged', () => {
  const alphabet = ['a', 'ß', '"', ',', ';', '\t', '\n', ' ', '😀', '{'];
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = randomOf(seed);
    const text = (): string => Array.from({ length: random(6) }, () => alphabet[random(alphabet.length)]).join('');
    const width = 1 + random(4);
    const header = Array.from({ length: width }, (_, index) => `column ${index}`);
    const rows = Array.from({ length: random(6) }, () => Array.from({ length: width }, text));
    const filled = rows.filter(row => row.some(cell => cell !== ''));
    const written = [header, ...rows]
      .map(row => row.map(cell => `"${cell.replaceAll('"', '""')}"`).join(','))
      .join('\r\n');
    expect(cellsOf(written)).toEqual([header, ...filled]);
  }
});

const streamed = async (text: string, size: number): Promise<CsvRow[]> => {
  const parts = Array.from({ length: Math.ceil(text.length / size) }, (_, place) =>
    text.slice(place * size, (place + 1) * size),
  );
  const rows: CsvRow[] = [];
  const source = async function* () {
    yield* parts;
  };
  for await (const row of streamCsv(source)) rows.push(row);
  return rows;
};

test.each([
  ['', 1],
  ['a', 1],
  ['phone;name\r\n"1\n2";"x ""y"""\r\n\r\n;\r\n3;é', 1],
  ['\uFEFFsep=|\nphone|name\n1|a,b\n', 3],
  ['a\tb\r1\t2\r', 2],
  // The line feed comes long after the begin.
  [`a,b${' '.repeat(250_000)}\r\n1,2\n`, 50_000],
  [`a;b\n${'"x;\n";y\n'.repeat(30_000)}`, 1_000],
])('a file that is read in parts has the rows of one that is read whole (%#)', async (text, size) => {
  expect(await streamed(text, size)).toEqual(parseCsv(text));
});

test('a quote that does not end is a fault after the rows before it', async () => {
  await expect(streamed('a,b\n1,2\n"3,4\n', 4)).rejects.toBe(UNCLOSED_QUOTE);
});
