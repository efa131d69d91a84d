import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { type CsvRow, streamCsv, UNCLOSED_QUOTE } from '../platform/csv.ts';
import { encodingOf } from '../platform/csv-format.ts';
import { UserError } from '../platform/user-error.ts';

/**
 * The rows of a CSV file in UTF-8, or in UTF-16 with a byte order mark, as spreadsheets write "Unicode text", a few at a time. A pipe
 * is read once and kept in memory.
 * @returns a function that reads them from the first one, and throws UserError where the file has another encoding, which would garble
 *   names, or is not CSV
 * @throws UserError if it cannot be read
 */
export async function openCsv(file: string): Promise<() => AsyncGenerator<CsvRow>> {
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
    // The decoder throws TypeError, and reading the file other errors.
    if (!(error instanceof TypeError)) throw unreadable(file, error as Error);
    throw new UserError(`${file} is not a text in UTF-8. In a spreadsheet, save it as "CSV UTF-8".`, { cause: error });
  }
}

const unreadable = (file: string, error: Error): UserError =>
  new UserError(`${file} cannot be read: ${error.message}`, { cause: error });

const unclosed = (file: string): UserError => new UserError(`${file} is not a CSV file: a quoted field is not closed.`);
