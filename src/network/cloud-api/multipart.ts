import { randomBytes } from 'node:crypto';
import type { OutgoingFile } from '../network.ts';

export interface MultipartBody {
  readonly contentType: string;
  /** In bytes; undefined if the file's size is unknown. */
  readonly contentLength: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Streams a form with one file (RFC 7578). `FormData` is not used because it needs a Blob, which holds the whole file. The fields come
 * first, so that a reader knows them when the file begins.
 */
export function multipartAround(file: OutgoingFile, fields: Readonly<Record<string, string>>): MultipartBody {
  const boundary = `parley-${randomBytes(18).toString('base64url')}`;
  const part = (name: string, more = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n`;
  const head = Buffer.from(
    [
      ...Object.entries(fields).map(([name, value]) => `${part(name)}\r\n${value}\r\n`),
      `${part('file', `; filename="${escapeFilename(file.filename)}"`)}Content-Type: ${file.mimeType}\r\n\r\n`,
    ].join(''),
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* body() {
    yield head;
    yield* file.stream;
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: file.size === undefined ? undefined : head.length + file.size + tail.length,
    body: body(),
  };
}

/** Escapes a name as browsers do (HTML, "multipart form data"): a quote or line break would end the header. */
const escapeFilename = (name: string): string =>
  name.replace(/[\r\n"]/g, character => (character === '"' ? '%22' : character === '\r' ? '%0D' : '%0A'));
