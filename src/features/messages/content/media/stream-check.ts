/**
 * Checks a file during its transfer, for formats that its head does not identify. An error at the end is early enough, because
 * the network discards an upload that is not completed.
 */
export interface StreamCheck {
  /** Checks a chunk. @returns the error, as soon as it is known */
  add(piece: Uint8Array): string | undefined;
  /** Checks the end of the file. @returns the error */
  end(): string | undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL = /[\x00-\x08\x0b\x0e-\x1f\x7f]/;
const NOT_TEXT = 'The file is not a text: it must be UTF-8 without control characters.';

/** UTF-8 (with or without a byte order mark) without control characters other than tabs, line and page breaks. */
export function textCheck(): StreamCheck {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const fault = (piece?: Uint8Array): string | undefined => {
    try {
      return CONTROL.test(piece ? decoder.decode(piece, { stream: true }) : decoder.decode()) ? NOT_TEXT : undefined;
    } catch {
      return NOT_TEXT;
    }
  };
  return { add: fault, end: () => fault() };
}

/** Longer than any mark including the bytes before it. */
const OVERLAP = 256;

/**
 * Checks that a file contains a mark.
 * @param isMark gets the bytes, the mark's offset in them, and its offset in the file
 */
function markStreamCheck(
  text: Buffer,
  fault: string,
  isMark: (bytes: Buffer, at: number, position: number) => boolean,
): StreamCheck {
  let tail = Buffer.alloc(0);
  let passed = 0;
  let found = false;
  return {
    add(piece) {
      if (found) return undefined;
      const bytes = Buffer.concat([tail, piece]);
      for (let at = bytes.indexOf(text); at !== -1 && !found; at = bytes.indexOf(text, at + 1)) {
        found = isMark(bytes, at, passed + at);
      }
      const kept = Math.min(OVERLAP, bytes.length);
      passed += bytes.length - kept;
      tail = bytes.subarray(bytes.length - kept);
      return undefined;
    },
    end: () => (found ? undefined : fault),
  };
}

/** A ZIP archive with an entry in a folder: `word/`, `xl/`, `ppt/` (ECMA-376 part 1 §8). Names are before each entry and in the directory at the end. */
export const zipCheck = (folder: string, fault: string): StreamCheck =>
  markStreamCheck(Buffer.from(folder, 'latin1'), fault, (bytes, at) =>
    [
      [30, 'PK\x03\x04'],
      [46, 'PK\x01\x02'],
    ].some(([back, signature]) => {
      const start = at - Number(back);
      return start >= 0 && bytes.toString('latin1', start, start + 4) === signature;
    }),
  );

/** A compound file with a stream of this name: directory entries are at multiples of 128 bytes and begin with the name ([MS-CFB] §2.6). */
export const compoundFileCheck = (stream: string, fault: string): StreamCheck =>
  markStreamCheck(Buffer.from(`${stream}\0`, 'utf16le'), fault, (_bytes, _at, position) => position % 128 === 0);
