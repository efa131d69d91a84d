import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createOrderReceiver } from '../features/integrations/intake/receive.ts';
import type { IntegrationSecrets } from '../features/integrations/store.ts';
import { type QuotaState, rateLimitHeaders } from '../platform/rate-limits.ts';
import type { Resources } from '../schema/context.ts';
import { clientAddress } from './client-address.ts';
import { keepRawBodies } from './request-body.ts';

/** An order has a few kilobytes; one of a thousand lines is below this. */
const ORDER_BODY_LIMIT = 1024 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** The integration that the URL names. */
    integration: IntegrationSecrets | null;
  }
}

const STATUS = { stored: 200, duplicate: 200, ping: 200, disabled: 200, unauthorized: 401, unknown: 404 } as const;

/** Registers `POST /integrations/{key}`, the webhooks of shops. Bodies stay raw: the signature covers their bytes. */
export function integrationRoutes(resources: Resources) {
  return async (app: FastifyInstance): Promise<void> => {
    const receiver = createOrderReceiver(resources);
    const addressOf = ({ raw }: FastifyRequest): string => clientAddress(raw, resources.config.trustedProxies);
    const rateLimited = (reply: FastifyReply, states: readonly QuotaState[]): FastifyReply =>
      reply.code(429).headers(rateLimitHeaders(states, resources.clock.now())).send({ error: 'limited' });

    app.decorateRequest('integration', null);
    keepRawBodies(app, ORDER_BODY_LIMIT);

    app.post<{ Params: { key: string }; Body: Buffer | undefined }>(
      '/:key',
      {
        bodyLimit: ORDER_BODY_LIMIT,
        // Runs before the body is read.
        onRequest: async (request, reply) => {
          // A missing or malformed content type must not be rejected: bodies are read as bytes.
          request.raw.headers['content-type'] = 'application/octet-stream';
          const integration = await receiver.authorize(request.params.key, addressOf(request));
          if (integration === 'unknown') return reply.code(STATUS.unknown).send({ error: integration });
          if ('limited' in integration) return rateLimited(reply, integration.limited);
          request.integration = integration;
          request.tenantId = integration.tenant_id;
        },
      },
      async (request, reply) => {
        const { integration, headers } = request;
        if (!integration) return reply.code(STATUS.unknown).send({ error: 'unknown' });
        const body = request.body ?? Buffer.alloc(0);
        const receipt = await receiver.receive(integration, headers, body, addressOf(request));
        if (typeof receipt !== 'string') return rateLimited(reply, receipt.limited);
        const status = STATUS[receipt];
        return reply.code(status).send(status === 200 ? { status: receipt } : { error: receipt });
      },
    );
  };
}
