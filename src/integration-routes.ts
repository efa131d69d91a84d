import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Resources } from './context.ts';
import { createOrderReceiver, type OrderReceiver } from './features/integrations/receive.ts';
import { type QuotaState, rateLimitHeaders } from './platform/rate-limits.ts';

/** Orders have some kilobytes; one of a thousand lines has less than this. */
const ORDER_BODY_LIMIT = 1024 * 1024;

type Keeper = Exclude<Awaited<ReturnType<OrderReceiver['greet']>>, 'unknown' | { readonly limited: unknown }>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The integration whose address was called. */
    doorkeeper: Keeper | null;
  }
}

const STATUS = { stored: 200, duplicate: 200, ping: 200, disabled: 200, unauthorized: 401, unknown: 404 } as const;

/** `POST /integrations/{key}`: what shops report. The signature is over the raw bytes, so nothing here parses them first. */
export function integrationRoutes(resources: Resources) {
  return async (app: FastifyInstance): Promise<void> => {
    const receiver = createOrderReceiver(resources);
    const limited = (reply: FastifyReply, states: readonly QuotaState[]): FastifyReply =>
      reply.code(429).headers(rateLimitHeaders(states, resources.clock.now())).send({ error: 'limited' });

    app.decorateRequest('doorkeeper', null);
    app.removeAllContentTypeParsers();
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit: ORDER_BODY_LIMIT }, (_request, body, done) =>
      done(null, body),
    );

    app.post<{ Params: { key: string }; Body: Buffer | undefined }>(
      '/:key',
      {
        bodyLimit: ORDER_BODY_LIMIT,
        // Before a byte of the body is read.
        onRequest: async (request, reply) => {
          // Whatever the bytes are said to be, and however badly: they are read as what they are, afterwards.
          request.raw.headers['content-type'] = 'application/octet-stream';
          const keeper = await receiver.greet(request.params.key, request.ip);
          if (keeper === 'unknown') return reply.code(STATUS.unknown).send({ error: keeper });
          if ('limited' in keeper) return limited(reply, keeper.limited);
          request.doorkeeper = keeper;
          request.tenantId = keeper.tenant_id;
        },
      },
      async (request, reply) => {
        const { doorkeeper: keeper, headers, ip } = request;
        if (!keeper) return reply.code(STATUS.unknown).send({ error: 'unknown' });
        const body = request.body ?? Buffer.alloc(0);
        const receipt = await receiver.receive(keeper, headers, body, ip);
        if (typeof receipt !== 'string') return limited(reply, receipt.limited);
        const status = STATUS[receipt];
        return reply.code(status).send(status === 200 ? { status: receipt } : { error: receipt });
      },
    );
  };
}
