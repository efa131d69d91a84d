/**
 * What the head of a file cannot tell is watched for while the file goes by. A fault that shows at the end is early enough:
 * the network takes no file whose upload was not ended.
 */
export interface Watch {
  /** @returns what is wrong, as soon as it shows */
  add(piece: Uint8Array): string | undefined;
  /** @returns what is wrong with the whole */
  end(): string | undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0b\x0e-\x1f\x7f]/;
const NOT_TEXT = 'The file is no text: it must be UTF-8 without control characters.';

/** UTF-8 (with or without a byte order mark) without control characters other than tabs, line and page breaks. */
export function textWatch(): Watch {
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

/** Longer than anything that is looked for, with what stands before it. */
const OVERLAP = 256;

/**
 * Whether a file has a mark somewhere in it.
 * @param isMark sees the bytes, where the mark begins in them, and how far from the start of the file that is
 */
function markWatch(
  text: Buffer,
  fault: string,
  isMark: (bytes: Buffer, at: number, position: number) => boolean,
): Watch {
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

/** A ZIP archive with an entry in a folder: `word/`, `xl/`, `ppt/` (ECMA-376 part 1 §8). Names stand before each entry and in the directory at the end. */
export const zipWatch = (folder: string, fault: string): Watch =>
  markWatch(Buffer.from(folder, 'latin1'), fault, (bytes, at) =>
    [
      [30, 'PK\x03\x04'],
      [46, 'PK\x01\x02'],
    ].some(([back, signature]) => {
      const start = at - Number(back);
      return start >= 0 && bytes.toString('latin1', start, start + 4) === signature;
    }),
  );

/** A compound file with a stream of this name: entries of its directory stand at multiples of 128 bytes, with the name first ([MS-CFB] §2.6). */
export const compoundWatch = (stream: string, fault: string): Watch =>
  markWatch(Buffer.from(`${stream}\0`, 'utf16le'), fault, (_bytes, _at, position) => position % 128 === 0);
