import { expect, test } from 'vitest';
import { decodeText, readCsv } from '../../src/dashboard/csv/csv-file.ts';

const bytesOf = (buffer: Buffer): ArrayBuffer => new Uint8Array(buffer).buffer;
const TEXT = 'name;phone\r\nJürgen Müller;+4915112345678\r\n';
const TABLE = { columns: ['name', 'phone'], rows: [['Jürgen Müller', '+4915112345678']] };

test.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with its mark', Buffer.from(`\uFEFF${TEXT}`)],
  ['UTF-16 with its mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['the code page of Windows', Buffer.from(TEXT, 'latin1')],
])('a file in %s is read with its umlauts', (_name, buffer) => {
  expect(readCsv(decodeText(bytesOf(buffer)))).toEqual(TABLE);
});
