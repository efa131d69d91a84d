import { readFile } from 'node:fs/promises';
import { type CsvRow, parseCsv } from '../platform/csv.ts';
import { encodingOf } from '../platform/csv-format.ts';
import { UserError } from '../platform/user-error.ts';

/**
 * Reads a CSV file in UTF-8, or in UTF-16 with a byte order mark, as spreadsheets write "Unicode text".
 * @throws UserError if it cannot be read, has another encoding, which would garble names, or is not CSV
 */
export async function readCsv(file: string): Promise<CsvRow[]> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UserError(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  const rows = parseCsv(decode(bytes, file));
  if (!rows) throw new UserError(`${file} is not a CSV file: a quoted field is not closed.`);
  return rows;
}

function decode(bytes: Buffer, file: string): string {
  const encoding = encodingOf(bytes);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UserError(`${file} is not a text in UTF-8. In a spreadsheet, save it as "CSV UTF-8".`, { cause: error });
  }
}
