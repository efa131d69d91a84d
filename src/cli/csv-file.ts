import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type CsvRow, parseCsv, streamCsv, UNCLOSED_QUOTE } from '../platform/csv.ts';
import { encodingOf } from '../platform/csv-format.ts';
import { UserError } from '../platform/user-error.ts';

/**
 * Reads a CSV file in UTF-8, or in UTF-16 with a byte order mark, as spreadsheets write "Unicode text".
 * @throws UserError if it cannot be read, has another encoding, which would garble names, or is not CSV
 */
export async function readCsv(file: string): Promise<CsvRow[]> {
  const bytesOf = await opened(file);
  let text = '';
  for await (const part of decoded(bytesOf(), file)) text += part;
  const rows = parseCsv(text);
  if (!rows) throw unclosed(file);
  return rows;
}

/**
 * The rows of a CSV file, as `readCsv` reads them but a few at a time. What is no file, as a pipe, is kept in memory.
 * @returns a function that reads them from the first one; @throws as `readCsv`, when it comes there
 */
export async function openCsv(file: string): Promise<() => AsyncGenerator<readonly string[]>> {
  const bytesOf = await opened(file);
  return async function* () {
    try {
      yield* streamCsv(() => decoded(bytesOf(), file));
    } catch (error) {
      throw error === UNCLOSED_QUOTE ? unclosed(file) : error;
    }
  };
}

type Bytes = Iterable<Buffer> | AsyncIterable<Buffer>;

async function opened(file: string): Promise<() => Bytes> {
  try {
    if ((await stat(file)).isFile()) return () => createReadStream(file);
    const bytes = await readFile(file);
    return () => [bytes];
  } catch (error) {
    throw unreadable(file, error as Error);
  }
}

async function* decoded(bytes: Bytes, file: string): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  try {
    for await (const chunk of bytes) {
      decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true });
      yield decoder.decode(chunk, { stream: true });
    }
    if (decoder) yield decoder.decode();
  } catch (error) {
    // The decoder's; those of files are others.
    if (!(error instanceof TypeError)) throw unreadable(file, error as Error);
    throw new UserError(`${file} is not a text in UTF-8. In a spreadsheet, save it as "CSV UTF-8".`, { cause: error });
  }
}

const unreadable = (file: string, error: Error): UserError =>
  new UserError(`${file} cannot be read: ${error.message}`, { cause: error });

const unclosed = (file: string): UserError => new UserError(`${file} is not a CSV file: a quoted field is not closed.`);
