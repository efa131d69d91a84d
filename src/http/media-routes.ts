import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../core/errors.ts';
import { isUuid } from '../core/ids.ts';
import type { Principal } from '../core/principal.ts';
import { requireScope } from '../core/principal.ts';
import { pathOf, type StoredMedia } from '../features/messages/content/media/file.ts';
import { createMediaReader, type RemoteFile } from '../features/messages/content/media/open.ts';
import { upload } from '../features/messages/content/media/upload.ts';
import { toOffsetTime } from '../platform/date-time.ts';
import type { Resources } from '../schema/context.ts';
import { namesEtag } from './etag.ts';

type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<{ principal: Principal | undefined }>;
type MediaRequest = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, unknown> }>;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** Registers `PUT /media/{id}`, which stores the file of an upload, and `GET` and `HEAD`, which serve files. Bytes are streamed to and from the network. */
export function mediaRoutes(resources: Resources, authenticate: Authenticate) {
  return async (app: FastifyInstance): Promise<void> => {
    const reader = createMediaReader(resources);
    app.decorateRequest('principal', null);
    // Runs before the body is read.
    app.addHook('onRequest', async (request, reply) => {
      request.principal = (await authenticate(request, reply)).principal ?? null;
    });
    app.removeAllContentTypeParsers();
    // The handler streams the body, whatever its content type.
    app.addContentTypeParser('*', (_request, body, done) => done(null, body));

    const authorize = (request: MediaRequest, scope: 'messages:read' | 'messages:send') => {
      const { principal, params } = request;
      if (!principal) throw notFound('Media');
      requireScope(principal, scope);
      if (!isUuid(params.id)) throw notFound('Media');
      return { principal, id: params.id.toLowerCase() };
    };

    app.put('/:id', { config: { upload: true } }, async (request: MediaRequest, reply) => {
      const { principal, id } = authorize(request, 'messages:send');
      const type = request.headers['content-type'];
      const length = request.headers['content-length'];
      const media = await upload(resources, principal, id, {
        stream: bodyStream(request.raw),
        size: length === undefined ? undefined : Number(length),
        mimeType:
          type === undefined || /^application\/(octet-stream|x-www-form-urlencoded)\b/i.test(type) ? null : type,
      });
      const timestamp = toOffsetTime(new Date(resources.clock.now()).toISOString());
      return reply
        .code(201)
        .header('location', pathOf(id))
        .send({
          success: true,
          data: wireMedia(media),
          message: 'File uploaded',
          meta: { request_id: request.id, timestamp },
        });
    });

    app.route({
      method: ['GET', 'HEAD'],
      url: '/:id',
      exposeHeadRoute: false,
      async handler(request: MediaRequest, reply) {
        const { principal, id } = authorize(request, 'messages:read');
        const isHead = request.method === 'HEAD';
        const file = await reader.find(principal, id, isHead);
        const etag = file.sha256 && `"${file.sha256}"`;
        reply.headers(headersOf(file, etag, Object.hasOwn(request.query, 'inline')));
        if (etag && namesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
        if (isHead) {
          if (file.size !== undefined) reply.header('content-length', file.size);
          return reply.send();
        }
        const { status, contentLength, contentRange, stream } = await file.open(rangeOf(request.headers, etag));
        reply.code(status);
        if (contentRange !== undefined) reply.header('content-range', contentRange);
        if (status === 416) {
          stream.destroy();
          return reply.removeHeader('content-type').removeHeader('content-disposition').send();
        }
        if (contentLength !== undefined) reply.header('content-length', contentLength);
        // Fastify pipes: backpressure reaches the network, and a disconnect ends its response.
        return reply.send(stream);
      },
    });
  };
}

/**
 * Returns the body as a stream that can be abandoned. Abandoning iteration over the request itself would destroy the
 * connection before the client has its response.
 */
function bodyStream(raw: IncomingMessage): AsyncIterable<Uint8Array> {
  const stream = new PassThrough();
  raw.on('error', error => stream.destroy(error)).pipe(stream);
  return stream;
}

const wireMedia = (media: StoredMedia) => ({
  id: media.id,
  kind: media.kind,
  mime_type: media.mime_type,
  filename: media.filename,
  size: media.size,
  sha256: media.sha256,
  expires_at: toOffsetTime(media.expires_at),
});

/** Prevents scripts in received files from running on this origin: their content type is set by the sender and cannot be trusted. */
function headersOf({ mimeType, filename }: RemoteFile, etag: string | undefined, inline: boolean) {
  const type = /^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/.test(mimeType) ? mimeType : 'application/octet-stream';
  const isInline = inline && /^(image\/(jpeg|png|webp|gif)|(audio|video)\/[\w.+-]+)(;|$)/.test(type);
  return {
    'content-type': type,
    'content-disposition': contentDisposition(filename?.toWellFormed() || undefined, {
      type: isInline ? 'inline' : 'attachment',
    }),
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
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
