/** Thrown for a malformed or truncated form. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

export interface FilePart {
  readonly name: string;
  readonly filename: string | undefined;
  /** Media type declared by the client. */
  readonly type: string;
  readonly bytes: AsyncIterable<Buffer>;
}

const MAX_FIELD_BYTES = 64 * 1024;

/**
 * Reads `multipart/form-data` (RFC 7578) as a stream: files are passed on in chunks, other fields are small.
 *
 * @param onFile reads the whole of `bytes`
 * @returns the fields that are not files
 * @throws FormError
 */
export async function readForm(
  source: AsyncIterable<Buffer>,
  contentType: string,
  onFile: (file: FilePart) => Promise<void>,
): Promise<Map<string, string>> {
  const [, quoted, bare] = /^multipart\/form-data\b.*;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) throw new FormError('The body must be multipart/form-data.');
  const scanner = new Scanner(source);
  const fields = new Map<string, string>();
  await collect(scanner.until(`--${boundary}`));
  while ((await scanner.take(2)) !== '--') {
    const headers = await collect(scanner.until('\r\n\r\n'));
    const name = /\bname="([^"]*)"/i.exec(headers)?.[1] ?? '';
    const filename = /\bfilename="([^"]*)"/i.exec(headers)?.[1];
    const type = /^content-type:\s*(.*)$/im.exec(headers)?.[1]?.trim();
    const bytes = scanner.until(`\r\n--${boundary}`);
    if (filename === undefined) fields.set(name, await collect(bytes));
    else await onFile({ name, filename, type: type ?? '', bytes });
  }
  return fields;
}

async function collect(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > MAX_FIELD_BYTES) throw new FormError('A field is too large.');
    all.push(piece);
  }
  return Buffer.concat(all).toString('utf8');
}

/** Splits a stream at delimiters, which may span chunks. */
class Scanner {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Yields the bytes before the delimiter and consumes the delimiter. */
  async *until(delimiter: string): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#rest.indexOf(delimiter);
      // The delimiter's first bytes may be at the end of this chunk.
      const safe = at === -1 ? Math.max(0, this.#rest.length - delimiter.length + 1) : at;
      const piece = this.#rest.subarray(0, safe);
      this.#rest = this.#rest.subarray(at === -1 ? safe : at + delimiter.length);
      if (piece.length > 0) yield piece;
      if (at !== -1) return;
      await this.#more();
    }
  }

  async take(bytes: number): Promise<string> {
    while (this.#rest.length < bytes) await this.#more();
    const taken = this.#rest.toString('latin1', 0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#source.next();
    if (done) throw new FormError('The body ends within a part.');
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }
}
