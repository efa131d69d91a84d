import DataLoader from 'dataloader';
import { CodedError } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import type { Loaders } from '../../../schema/loaders.ts';
import { getBodies, getBodySizes } from './deliveries.sql.ts';

/** Bytes of payloads that one operation reads at most: eight of the largest payloads, or sixteen full pages of orders of 5 kB. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

type Reader = DataLoader<string, Buffer | null>;

/** One for each operation, as its loaders. */
const readers = new WeakMap<Loaders, Reader>();

/**
 * Reads the bytes of a received payload; null if they were erased. A payload may have a megabyte, and an operation can select thousands:
 * together they would not fit into the memory of the process.
 * @throws QUERY_TOO_COMPLEX for payloads beyond `MAX_BODY_BYTES` of the operation
 */
export function readBody(context: Context, id: string): Promise<Buffer | null> {
  const reader = readers.get(context.loaders) ?? createReader(context);
  readers.set(context.loaders, reader);
  return reader.load(id);
}

function createReader(context: Context): Reader {
  const { read } = context.db;
  const tenantId = tenantOf(context);
  let left = MAX_BODY_BYTES;
  return new DataLoader<string, Buffer | null>(async ids => {
    const sizes = await getBodySizes(read, tenantId, ids);
    const fitting = ids.filter(id => {
      left -= sizes.get(id) ?? 0;
      return left >= 0;
    });
    const bodies = await getBodies(read, tenantId, fitting);
    return ids.map((id, index) => (index < fitting.length ? (bodies.get(id) ?? null) : tooMuch()));
  });
}

const tooMuch = (): CodedError =>
  new CodedError(
    'QUERY_TOO_COMPLEX',
    `The payloads of one operation may have ${MAX_BODY_BYTES} bytes together. Select fewer at once.`,
    { details: { limit: 'payloads', maximum: MAX_BODY_BYTES } },
  );
