import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, Resources } from './context.ts';
import { notFound } from './errors.ts';
import { requireScope } from './features/caller.ts';
import { pathOf, type StoredMedia } from './features/media/file.ts';
import { createMediaReader, type RemoteFile } from './features/media/open.ts';
import { upload } from './features/media/upload.ts';
import { isUuid } from './platform/ids.ts';
import { namesEtag } from './rest/validator.ts';
import { time } from './rest/wire-time.ts';

type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<{ principal: Principal | undefined }>;
type MediaRequest = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, unknown> }>;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** `PUT /media/{id}` takes the file of an upload, `GET` and `HEAD` serve that of an upload or a message. Bytes go through, and are never kept. */
export function mediaRoutes(resources: Resources, authenticate: Authenticate) {
  return async (app: FastifyInstance): Promise<void> => {
    const reader = createMediaReader(resources);
    app.decorateRequest('principal', null);
    // Before a byte of the body is read.
    app.addHook('onRequest', async (request, reply) => {
      request.principal = (await authenticate(request, reply)).principal ?? null;
    });
    app.removeAllContentTypeParsers();
    // Whatever it is called, nobody reads it but the handler.
    app.addContentTypeParser('*', (_request, body, done) => done(null, body));

    const asked = (request: MediaRequest, scope: 'messages:read' | 'messages:send') => {
      const { principal, params } = request;
      if (!principal) throw notFound('Media');
      requireScope(principal, scope);
      if (!isUuid(params.id)) throw notFound('Media');
      return { principal, id: params.id.toLowerCase() };
    };

    app.put('/:id', { config: { upload: true } }, async (request: MediaRequest, reply) => {
      const { principal, id } = asked(request, 'messages:send');
      const type = request.headers['content-type'];
      const length = request.headers['content-length'];
      const media = await upload(resources, principal, id, {
        stream: piecesOf(request.raw),
        size: length === undefined ? undefined : Number(length),
        mimeType:
          type === undefined || /^application\/(octet-stream|x-www-form-urlencoded)\b/i.test(type) ? null : type,
      });
      const timestamp = time(new Date(resources.clock.now()).toISOString());
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
        const { principal, id } = asked(request, 'messages:read');
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
        // Fastify pipes: a client that reads slowly is waited for, one that leaves ends the network's answer too.
        return reply.send(stream);
      },
    });
  };
}

/**
 * A body as a stream that may be left before its end: iterating over the request itself would either break the connection
 * then, before the client has its answer, or keep the rest from ever being read.
 */
function piecesOf(raw: IncomingMessage): AsyncIterable<Uint8Array> {
  const pieces = new PassThrough();
  raw.on('error', error => pieces.destroy(error)).pipe(pieces);
  return pieces;
}

const wireMedia = (media: StoredMedia) => ({
  id: media.id,
  kind: media.kind,
  mime_type: media.mime_type,
  filename: media.filename,
  size: media.size,
  sha256: media.sha256,
  expires_at: time(media.expires_at),
});

/** What people sent is shown by no browser on our own address, and run by none: the type is theirs, and may lie. */
function headersOf({ mimeType, filename }: RemoteFile, etag: string | undefined, inline: boolean) {
  const type = /^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/.test(mimeType) ? mimeType : 'application/octet-stream';
  const isShown = inline && /^(image\/(jpeg|png|webp|gif)|(audio|video)\/[\w.+-]+)(;|$)/.test(type);
  return {
    'content-type': type,
    'content-disposition': disposition(isShown ? 'inline' : 'attachment', filename),
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    ...(etag && { etag }),
  };
}

/** RFC 6266: the name in ASCII, and for who reads it, in full (RFC 8187). */
export function disposition(word: 'inline' | 'attachment', filename: string | null): string {
  if (!filename) return word;
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const full = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${word}; filename="${ascii}"${ascii === filename ? '' : `; filename*=UTF-8''${full}`}`;
}

/** A range is passed on where it is one (RFC 9110 §14.2: others are passed over), and of the file that the client has begun (`If-Range`). */
function rangeOf(headers: FastifyRequest['headers'], etag: string | undefined): string | undefined {
  const { range } = headers;
  const ifRange = headers['if-range'];
  if (range === undefined || !/^bytes=(\d{1,15}-\d{0,15}|-\d{1,15})$/.test(range)) return undefined;
  return ifRange === undefined || ifRange === etag ? range : undefined;
}
