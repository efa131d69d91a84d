/** Texts or byte strings, one after the other in one parameter, and where each ends in bytes. */
export interface OnePiece {
  readonly text: string;
  readonly ends: readonly number[];
  readonly lengths: readonly number[];
}

/**
 * Joins byte strings into one parameter of type bytea, of which a statement takes each with `substring(… from stop - length + 1 for length)`.
 * An array of them is escaped text, which the driver writes and the database reads character by character. Hexadecimal, and not a Buffer:
 * that lies outside of the heap, where some tens of kilobytes for each statement made V8 collect garbage five times as often.
 */
export const oneByteString = (strings: readonly Buffer[]): OnePiece =>
  joined(
    `\\x${strings.map(bytes => bytes.toString('hex')).join('')}`,
    strings.map(({ length }) => length),
  );

/** The same for texts: the parameter is a text, which `convert_to` makes bytes. */
export const oneText = (texts: readonly string[]): OnePiece =>
  joined(
    texts.join(''),
    texts.map(text => Buffer.byteLength(text)),
  );

function joined(text: string, lengths: readonly number[]): OnePiece {
  let total = 0;
  const ends = lengths.map(length => {
    total += length;
    return total;
  });
  return { text, ends, lengths };
}
