import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from '../core/errors.ts';
import type { RemoteFile } from '../features/messages/content/media/open.ts';
import { SIGNED_PATHS, type SignedKind, verifySigned } from '../features/messages/content/media/signed-url.ts';
import { isActiveTenant } from '../features/tenancy/tenants/find.ts';
import { SECOND } from '../platform/clock.ts';
import type { Resources } from '../schema/context.ts';
import { serveFile } from './serve-file.ts';

/**
 * Registers `GET` and `HEAD` of signed URLs of one kind of file. The signature stands for the token: no credentials are read, and an
 * invalid URL costs no statement.
 * @param what the name of a file in errors
 */
export function signedRoutes(
  { secrets, clock, db }: Pick<Resources, 'secrets' | 'clock' | 'db'>,
  kind: SignedKind,
  what: string,
  find: (tenantId: number, id: string, wantsSize: boolean) => Promise<RemoteFile>,
) {
  return async (app: FastifyInstance): Promise<void> => {
    app.route({
      method: ['GET', 'HEAD'],
      url: `${SIGNED_PATHS[kind]}/:token`,
      exposeHeadRoute: false,
      async handler(request: FastifyRequest<{ Params: { token: string } }>, reply) {
        const nowMs = clock.now();
        const signed = verifySigned(secrets, request.params.token, nowMs, kind);
        if (!signed || !(await isActiveTenant(db.read, signed.tenantId))) throw notFound(what);
        request.tenantId = signed.tenantId;
        const file = await find(signed.tenantId, signed.id, request.method === 'HEAD');
        return serveFile(request, reply, file, true, {
          'cache-control': `private, immutable, max-age=${Math.floor((signed.expiresAtMs - nowMs) / SECOND)}`,
          // For pages that isolate themselves (Cross-Origin-Embedder-Policy).
          'cross-origin-resource-policy': 'cross-origin',
        });
      },
    });
  };
}
