import { createHash } from 'node:crypto';
import { CodedError, invalid } from '../../../../core/errors.ts';
import { type ChannelCredentials, NetworkCallError } from '../../../../network/network.ts';
import { createMinorCollector } from '../../../../platform/garbage-collection.ts';
import { QueueOverload } from '../../../../platform/keyed-semaphore.ts';
import type { Resources } from '../../../../schema/context.ts';
import { MAX_BYTES, sizeOf } from './formats.ts';
import { type Declared, HEAD_BYTES, sniff } from './sniff.ts';
import type { AcceptedFile } from './store.ts';
import type { StreamCheck } from './stream-check.ts';

/** An incoming file. */
export interface IncomingFile extends Declared {
  readonly stream: AsyncIterable<Uint8Array>;
  /** Announced size in bytes. */
  readonly size: number | undefined;
  /** The input field, for errors. */
  readonly field: string;
}

/**
 * Streams an incoming file to the network. Only its head (64 KB) is examined before; a later error (too large, another format,
 * interrupted) aborts the upload, which the network then discards. Backpressure: a few chunks are in memory, and the next one is
 * read when the network has taken the last.
 *
 * @throws VALIDATION_ERROR on `field`, BAD_REQUEST if the file is interrupted, MESSAGE_SEND_FAILED if the network refuses it,
 *   SERVICE_UNAVAILABLE if the network does not respond, or while too many other files of the tenant are under way
 */
export async function transfer(
  { network, log, uploadSemaphore }: Pick<Resources, 'network' | 'log' | 'uploadSemaphore'>,
  tenantId: number,
  channel: ChannelCredentials,
  file: IncomingFile,
): Promise<Omit<AcceptedFile, 'livesForMs'>> {
  const pieces = readPieces(file.stream);
  try {
    const head = await readHead(pieces);
    if (head.length === 0) throw invalid({ [file.field]: ['The file is empty.'] });
    const verdict = await sniff(head, file);
    if ('fault' in verdict) throw invalid({ [file.field]: [verdict.fault] });
    const { format, check: streamCheck } = verdict;
    const maxBytes = format.maxBytes ?? MAX_BYTES[format.kind];
    const tooLarge = invalid({
      [file.field]: [`The file is ${format.title} and larger than ${sizeOf(maxBytes)}, the limit of its kind.`],
    });
    if (file.size !== undefined && file.size > maxBytes) throw tooLarge;

    const hash = createHash('sha256');
    const sweep = createMinorCollector();
    let size = 0;
    const check = (fault: string | undefined): void => {
      if (fault !== undefined) throw invalid({ [file.field]: [fault] });
    };
    async function* checked(watched: StreamCheck | undefined) {
      for (let piece: Uint8Array | undefined = head; piece; piece = await pieces.next()) {
        size += piece.length;
        if (size > maxBytes) throw tooLarge;
        check(watched?.add(piece));
        hash.update(piece);
        yield piece;
        sweep(piece.length);
      }
      check(watched?.end());
    }
    const filename = file.filename || `${format.kind}.${format.extensions[0]}`;
    const networkMediaId = await uploadSemaphore
      .run(String(tenantId), () =>
        network.uploadMedia(channel, {
          stream: checked(streamCheck),
          mimeType: format.uploadType ?? format.mimeType,
          filename,
          size: file.size,
        }),
      )
      .catch((error: unknown) => {
        if (error instanceof QueueOverload) throw tooMany();
        if (!(error instanceof NetworkCallError)) throw error;
        log.warn({ reason: error.message, kind: format.kind }, 'the network did not accept a file');
        throw refusalOf(error);
      });
    return { kind: format.kind, filename, mimeType: format.mimeType, size, sha256: hash.digest('hex'), networkMediaId };
  } finally {
    pieces.leave();
  }
}

interface Pieces {
  /** @returns undefined at the end */
  next(): Promise<Uint8Array | undefined>;
  leave(): void;
}

function readPieces(stream: AsyncIterable<Uint8Array>): Pieces {
  const iterator = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const step = await iterator.next().catch(() => {
        throw new CodedError('BAD_REQUEST', 'The upload was interrupted before the end of the file.');
      });
      return step.done ? undefined : step.value;
    },
    // Not awaited: it would wait for the next chunk, which may never come.
    leave: () => void iterator.return?.().catch(() => undefined),
  };
}

async function readHead(pieces: Pieces): Promise<Uint8Array> {
  const head: Uint8Array[] = [];
  let size = 0;
  while (size < HEAD_BYTES) {
    const piece = await pieces.next();
    if (!piece) break;
    head.push(piece);
    size += piece.length;
  }
  return Buffer.concat(head);
}

const tooMany = (): CodedError =>
  new CodedError('SERVICE_UNAVAILABLE', 'Too many files of this account are being uploaded. Try again.', {
    details: { retry_after: 5 },
  });

function refusalOf({ error }: NetworkCallError): CodedError {
  if (!error)
    return new CodedError('SERVICE_UNAVAILABLE', 'The network does not answer at the moment. Try again.', {
      details: { retry_after: 5 },
    });
  const { code, title, details } = error;
  return new CodedError('MESSAGE_SEND_FAILED', `The network refused the file: ${title}.`, {
    details: {
      provider: { code, title, details },
    },
  });
}
