import type { FastifyInstance } from 'fastify';
import { isVerifyToken } from '../features/channels/webhook-owners.ts';
import { createWebhookReceiver } from '../features/inbox/receive.ts';
import type { Resources } from '../schema/context.ts';
import { keepRawBodies } from './request-body.ts';

/** The network sends up to 3 MB and 1,000 updates in one request (cloud-api §9). */
const BODY_LIMIT = 4 * 1024 * 1024;

/** Registers `GET` and `POST /webhook`, the inbound webhooks of the network. Bodies stay raw: the signature covers their bytes. */
export function networkRoutes(resources: Resources) {
  return async (app: FastifyInstance): Promise<void> => {
    const receiver = createWebhookReceiver(resources);
    keepRawBodies(app, BODY_LIMIT);

    app.get<{ Querystring: Record<string, unknown> }>('/webhook', async (request, reply) => {
      const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = request.query;
      const isVerification = mode === 'subscribe' && typeof challenge === 'string' && challenge !== '';
      if (isVerification && typeof token === 'string' && (await isVerifyToken(resources, token)))
        return reply.type('text/plain').send(challenge);
      return reply.code(403).send({ error: 'forbidden' });
    });

    app.post<{ Body: Buffer | undefined }>('/webhook', { bodyLimit: BODY_LIMIT }, async (request, reply) => {
      const header = request.headers['x-hub-signature-256'];
      const receipt = await receiver.receive(
        request.body ?? Buffer.alloc(0),
        typeof header === 'string' ? header : undefined,
      );
      if (receipt === 'stored') return reply.send({ status: 'stored' });
      return reply.code(403).send({ error: receipt });
    });
  };
}
