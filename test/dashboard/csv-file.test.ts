import { expect, test } from 'vitest';
import { FieldErrorList } from '../../src/core/errors.ts';
import { decodeText, readCsv, writeCsv } from '../../src/dashboard/csv/csv-file.ts';
import { tableOf } from '../../src/features/campaigns/lists/parse-file.ts';

const bytesOf = (buffer: Buffer): ArrayBuffer => new Uint8Array(buffer).buffer;
const TEXT = 'name;phone\r\nJürgen Müller;+4915112345678\r\n';
const TABLE = { columns: ['name', 'phone'], rows: [['Jürgen Müller', '+4915112345678']] };

test.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with its mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16 with its mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['UTF-16, the first byte first, with its mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16()],
  ['the code page of Windows', Buffer.from(TEXT, 'latin1')],
])('a file in %s is read with its umlauts', (_name, buffer) => {
  expect(readCsv(decodeText(bytesOf(buffer)))).toEqual(TABLE);
});

/** What the gateway reads. */
function gatewayTable(csv: string) {
  const errors = new FieldErrorList();
  const { header, rows } = tableOf(csv, errors);
  errors.throwIfAny();
  return { columns: header, rows: rows.map(({ cells }) => cells) };
}

test.each([
  ['empty rows with their delimiters', 'phone,name\n,,\n+49 1,Ana\n,\n\n+49 2,Bo\n'],
  ['empty names behind the last column', 'phone;name;;\n+49 1;Ana;;\n+49 2;Bo;;\n'],
  ['a line that announces the delimiter', 'sep=;\r\nphone;name, first\r\n+49 1;Ana\r\n'],
  ['empty lines before the names', '\n\nphone;name\n+49 1;Ana\n'],
  ['line breaks and other delimiters in names', '"phone\nnumber"\tname;a;b\n+49 1\tAna\n'],
  ['line endings of old computers', 'phone,name\r+49 1,Ana\r'],
  ['quotes within values', 'phone,name\n+49 1,"Ana ""A"" Silva"\n+49 2,5" pipe\n'],
])('the dashboard and the gateway read the same from a file with %s', (_what, text) => {
  const table = readCsv(text);
  expect(table).toEqual(gatewayTable(text));
  expect(gatewayTable(writeCsv(table?.columns ?? [], table?.rows ?? []))).toEqual(table);
});
