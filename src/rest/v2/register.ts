import type { FastifyInstance } from 'fastify';
import type { RestHost } from '../host.ts';
export async function registerRestV2(_app: FastifyInstance, _host: RestHost): Promise<void> {}
