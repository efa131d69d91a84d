import type { FastifyInstance } from 'fastify';
import { createWriteProbe } from '../database/readiness.ts';
import type { Resources } from '../schema/context.ts';

/** Registers `/healthz` (the process is alive), `/readyz` (it accepts requests and can write to its database) and `/metrics` (Prometheus). */
export function registerHealth(
  app: FastifyInstance,
  { db, metrics }: Pick<Resources, 'db' | 'metrics'>,
  isReady: () => boolean,
): void {
  const probe = createWriteProbe(db);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const fault = isReady() ? await probe() : undefined;
    const reason = isReady() ? fault && `database: ${fault}` : 'starting or stopping';
    return reason === undefined
      ? { status: 'ready' }
      : reply.code(503).header('retry-after', '1').send({ status: 'unavailable', reason });
  });
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
}
