import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../core/errors.ts';
import { isUuid } from '../core/ids.ts';
import type { Principal } from '../core/principal.ts';
import { requireScope } from '../core/principal.ts';
import { pathOf, type StoredMedia } from '../features/messages/content/media/file.ts';
import { createMediaReader, type MediaReader } from '../features/messages/content/media/open.ts';
import { SIGNED_PATHS } from '../features/messages/content/media/signed-url.ts';
import { createThumbnails } from '../features/messages/content/media/thumbnails/find-thumbnail.ts';
import { upload } from '../features/messages/content/media/upload.ts';
import { HOUR, SECOND } from '../platform/clock.ts';
import { toOffsetTime } from '../platform/date-time.ts';
import type { Resources } from '../schema/context.ts';
import { refuseOtherMethods } from './other-methods.ts';
import { serveFile } from './serve-file.ts';
import { signedRoutes, thumbnailRoutes } from './signed-routes.ts';

type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<{ principal: Principal | undefined }>;
type MediaRequest = FastifyRequest<{ Params: { id: string }; Querystring: Record<string, unknown> }>;

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/**
 * Registers `PUT /media/{id}`, which stores the file of an upload, and `GET` and `HEAD`, which serve files: with a token at
 * `/media/{id}`, without one at the signed URLs below `/media/signed` and `/media/thumbnails`. Bytes are streamed.
 */
export function mediaRoutes(resources: Resources, authenticate: Authenticate) {
  return async (app: FastifyInstance): Promise<void> => {
    const reader = createMediaReader(resources);
    await app.register(signedRoutes(resources, 'media', 'Media', reader.find));
    await app.register(thumbnailRoutes(resources, createThumbnails(resources, reader)));
    await app.register(tokenRoutes(resources, reader, authenticate), { prefix: '/media' });
    refuseOtherMethods(app, [
      { method: 'GET', path: '/media/:id' },
      { method: 'PUT', path: '/media/:id' },
      { method: 'GET', path: `${SIGNED_PATHS.media}/:token` },
      { method: 'GET', path: `${SIGNED_PATHS.thumbnail}/:width/:token` },
    ]);
  };
}

function tokenRoutes(resources: Resources, reader: MediaReader, authenticate: Authenticate) {
  return async (app: FastifyInstance): Promise<void> => {
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
        const file = await reader.find(principal.tenant.id, id, request.method === 'HEAD');
        return serveFile(request, reply, file, Object.hasOwn(request.query, 'inline'), {
          'cache-control': `private, max-age=${HOUR / SECOND}`,
        });
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
