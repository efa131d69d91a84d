import type { Readable } from 'node:stream';
import type { Db } from '../../database/database.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import type { WritePiece } from '../../platform/files/written-stream.ts';
import { type KeptFile, listKeptOfContact } from './content/media/keeping/kept.sql.ts';

/** A multiple of 3 bytes, so that the pieces of base64 join without padding. */
const PIECE_BYTES = 48 * 1024;

/** A page of a contact's kept files in the order of their messages. @param after the last id of the previous page */
export const filesOf = (
  db: Db,
  tenantId: number,
  contactId: number,
  after: string | null,
  limit: number,
): Promise<KeptFile[]> => listKeptOfContact(db, tenantId, contactId, after, limit);

/**
 * Writes a kept file as a JSON object with its content in base64, piece by piece. `data` is null if the store has lost the file.
 * @throws FileStoreError
 */
export async function writeFileAsJson(
  files: Pick<FileStore, 'open'>,
  { storage_key: storageKey, ...shown }: KeptFile,
  write: WritePiece,
): Promise<void> {
  const stream = await files.open(storageKey, undefined);
  await write(`${JSON.stringify(shown).slice(0, -1)},"data":`);
  if (!stream) return write('null}');
  await write('"');
  for await (const piece of inPieces(stream)) await write(piece.toString('base64'));
  await write('"}');
}

/** All pieces but the last have `PIECE_BYTES`. */
async function* inPieces(stream: Readable): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let bytes = Buffer.concat([rest, chunk]);
    for (; bytes.length >= PIECE_BYTES; bytes = bytes.subarray(PIECE_BYTES)) yield bytes.subarray(0, PIECE_BYTES);
    rest = Buffer.from(bytes);
  }
  yield rest;
}
