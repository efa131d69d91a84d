import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RemoteFile } from '../features/messages/content/media/open.ts';
import { namesEtag } from './etag.ts';

/**
 * Answers with a file, a part of it, or that the client's copy is current.
 * @param isInline display the file in the browser, if its type cannot contain scripts
 * @param headers set only on success: an error must not be cached
 */
export async function serveFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: RemoteFile,
  isInline: boolean,
  headers: Readonly<Record<string, string>>,
): Promise<FastifyReply> {
  const etag = file.sha256 && `"${file.sha256}"`;
  const success = { ...headersOf(file, etag, isInline), ...headers };
  if (etag && namesEtag(request.headers['if-none-match'], etag)) return reply.headers(success).code(304).send();
  if (request.method === 'HEAD') {
    if (file.size !== undefined) reply.header('content-length', file.size);
    return reply.headers(success).send();
  }
  const { status, contentLength, contentRange, stream } = await file.open(rangeOf(request.headers, etag));
  if (contentRange !== undefined) reply.header('content-range', contentRange);
  if (status === 416) {
    stream.destroy();
    return reply.code(416).header('accept-ranges', 'bytes').send();
  }
  if (contentLength !== undefined) reply.header('content-length', contentLength);
  // Fastify pipes: backpressure reaches the source, and a disconnect ends its response.
  return reply.code(status).headers(success).send(stream);
}

/** Prevents scripts in received files from running on this origin: their content type is set by the sender and cannot be trusted. */
function headersOf({ mimeType, filename }: RemoteFile, etag: string | undefined, inline: boolean) {
  const type = /^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/.test(mimeType) ? mimeType : 'application/octet-stream';
  const isInline = inline && /^(image\/(jpeg|png|webp|gif)|(audio|video)\/[\w.+-]+|application\/pdf)(;|$)/.test(type);
  return {
    'content-type': type,
    'content-disposition': contentDisposition(filename?.toWellFormed() || undefined, {
      type: isInline ? 'inline' : 'attachment',
    }),
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    ...(etag && { etag }),
  };
}

/** Returns the Range header to forward. Malformed ranges are ignored (RFC 9110 §14.2), as are those whose `If-Range` names another version. */
function rangeOf(headers: FastifyRequest['headers'], etag: string | undefined): string | undefined {
  const { range } = headers;
  const ifRange = headers['if-range'];
  if (range === undefined || !/^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/.test(range)) return undefined;
  return ifRange === undefined || ifRange === etag ? range : undefined;
}
