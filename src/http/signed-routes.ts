import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../core/errors.ts';
import type { RemoteFile } from '../features/messages/content/media/open.ts';
import { SIGNED_PATHS, type SignedKind, verifySigned } from '../features/messages/content/media/signed-url.ts';
import type { Thumbnails } from '../features/messages/content/media/thumbnails/find-thumbnail.ts';
import { MAX_WIDTH, WIDTHS } from '../features/messages/content/media/thumbnails/shrink.ts';
import { isActiveTenant } from '../features/tenancy/tenants/find.ts';
import { SECOND } from '../platform/clock.ts';
import type { Resources } from '../schema/context.ts';
import { serveFile } from './serve-file.ts';

/**
 * Registers `GET` and `HEAD` of signed URLs of one kind of file. The signature stands for the token: no credentials are read, and an
 * invalid URL costs no statement.
 * @param resource type of the file in errors
 */
export function signedRoutes(
  { secrets, clock, db }: SignedResources,
  kind: SignedKind,
  resource: string,
  find: (tenantId: number, id: string, wantsSize: boolean) => Promise<RemoteFile>,
) {
  const resources = { secrets, clock, db };
  return async (app: FastifyInstance): Promise<void> => {
    app.route({
      method: ['GET', 'HEAD'],
      url: `${SIGNED_PATHS[kind]}/:token`,
      exposeHeadRoute: false,
      async handler(request: FastifyRequest<{ Params: { token: string } }>, reply) {
        const signed = verifySigned(secrets, request.params.token, clock.now(), kind);
        return serveSigned(resources, request, reply, signed, resource, ({ tenantId, id }) =>
          find(tenantId, id, request.method === 'HEAD'),
        );
      },
    });
  };
}

/** Registers `GET` of the signed URLs of thumbnails: `/media/thumbnails/{width}/{token}`. */
export function thumbnailRoutes(resources: SignedResources, thumbnails: Thumbnails) {
  return async (app: FastifyInstance): Promise<void> => {
    app.get(
      `${SIGNED_PATHS.thumbnail}/:width/:token`,
      { exposeHeadRoute: false },
      async (request: FastifyRequest<{ Params: { width: string; token: string } }>, reply) => {
        const { secrets, clock } = resources;
        const { token } = request.params;
        const width = WIDTHS.find(each => String(each) === request.params.width);
        const signed = width && verifySigned(secrets, token, clock.now(), 'thumbnail', width);
        return serveSigned(resources, request, reply, signed, 'Media', ({ tenantId, id }) =>
          thumbnails.find(tenantId, id, width ?? MAX_WIDTH),
        );
      },
    );
  };
}

type SignedResources = Pick<Resources, 'secrets' | 'clock' | 'db'>;
type Verified = NonNullable<ReturnType<typeof verifySigned>>;

async function serveSigned(
  { clock, db }: SignedResources,
  request: FastifyRequest,
  reply: FastifyReply,
  signed: Verified | undefined,
  resource: string,
  find: (signed: Verified) => Promise<RemoteFile>,
): Promise<FastifyReply> {
  if (!signed || !(await isActiveTenant(db.read, signed.tenantId))) throw notFound(resource);
  request.tenantId = signed.tenantId;
  return serveFile(request, reply, await find(signed), true, {
    'cache-control': `private, immutable, max-age=${Math.floor((signed.expiresAtMs - clock.now()) / SECOND)}`,
    // For pages that isolate themselves (Cross-Origin-Embedder-Policy).
    'cross-origin-resource-policy': 'cross-origin',
  });
}
