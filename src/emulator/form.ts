import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';

/** Thrown for a malformed or truncated form. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

export interface FilePart {
  readonly name: string;
  readonly filename: string | undefined;
  /** Media type declared by the client, without parameters. */
  readonly type: string;
  readonly bytes: AsyncIterable<Buffer>;
}

const MAX_FIELD_BYTES = 64 * 1024;

/**
 * Reads `multipart/form-data` (RFC 7578) as a stream: files are passed on in chunks, other fields are small.
 *
 * @param onFile reads the whole of `bytes`
 * @returns the fields that are not files
 * @throws FormError, and the errors of `source` and `onFile`
 */
export async function readForm(
  source: AsyncIterable<Buffer>,
  contentType: string,
  onFile: (file: FilePart) => Promise<void>,
): Promise<Map<string, string>> {
  const form = parserOf(contentType);
  const fields = new Map<string, string>();
  const files: { readonly stream: Readable; readonly read: Promise<void> }[] = [];
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
    form.destroy();
  };
  form.on('field', (name, value, _nameTruncated, isTruncated) => {
    if (isTruncated) fail(new FormError('A field is too large.'));
    else fields.set(name, value);
  });
  form.on('file', (name, stream, filename, _encoding, type) => {
    stream.on('error', cause => fail(new FormError('The body ends within a file.', { cause })));
    files.push({ stream, read: onFile({ name, filename, type, bytes: stream }).catch(fail) });
  });
  try {
    await pipeline(withErrors(source, fail), form);
  } catch (error) {
    fail(new FormError('The body is not a complete form.', { cause: error }));
    for (const { stream } of files) stream.destroy();
  }
  await Promise.all(files.map(file => file.read));
  if (failure !== undefined) throw failure;
  return fields;
}

function parserOf(contentType: string): BusboyInstance {
  if (!/^multipart\/form-data\b.*;\s*boundary=/i.test(contentType))
    throw new FormError('The body must be multipart/form-data.');
  return new Busboy({
    headers: { 'content-type': contentType },
    limits: { fieldSize: MAX_FIELD_BYTES },
    preservePath: true,
  });
}

async function* withErrors(source: AsyncIterable<Buffer>, fail: (error: unknown) => void): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    fail(error);
    throw error;
  }
}
