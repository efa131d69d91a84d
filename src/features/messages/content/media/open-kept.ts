import { Readable } from 'node:stream';
import type { MediaDownload } from '../../../../network/network.ts';
import type { ByteRange, FileStore } from '../../../../platform/files/file-store.ts';

/**
 * Opens a kept file, or the part of a `Range` header with one range.
 * @param size bytes
 * @returns undefined if the store does not have it @throws FileStoreError
 */
export async function openKept(
  files: Pick<FileStore, 'open'>,
  storageKey: string,
  size: number,
  header: string | undefined,
): Promise<MediaDownload | undefined> {
  const range = header === undefined ? undefined : rangeOf(size, header);
  if (range === 'unsatisfiable')
    return { status: 416, contentLength: undefined, contentRange: `bytes */${size}`, stream: Readable.from([]) };
  const stream = await files.open(storageKey, range);
  if (!stream) return undefined;
  if (!range) return { status: 200, contentLength: String(size), contentRange: undefined, stream };
  const { start, end } = range;
  return {
    status: 206,
    contentLength: String(end - start + 1),
    contentRange: `bytes ${start}-${end}/${size}`,
    stream,
  };
}

/**
 * The part of a file that a `Range` header with one range means (RFC 9110 §14.1.2). Not `range-parser`: its version 1.3.0 finds a
 * suffix longer than the file unsatisfiable, where the RFC means the whole file.
 * @returns undefined for other headers, which are ignored
 */
function rangeOf(size: number, header: string): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? [];
  if (first === '' && last === '') return undefined;
  if (first !== '' && last !== '' && Number(first) > Number(last)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start < size ? { start, end } : 'unsatisfiable';
}
