import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { CodedError } from '../core/errors.ts';

/** Answers OPTIONS on existing paths, and 405 with `Allow` for their other methods. GET includes HEAD. */
export function refuseOtherMethods(
  app: FastifyInstance,
  routes: readonly { readonly method: string; readonly path: string }[],
  hooks: Pick<RouteShorthandOptions, 'errorHandler'> = {},
): void {
  for (const [path, rows] of Map.groupBy(routes, route => route.path)) {
    const methods: string[] = rows.map(route => route.method);
    if (methods.includes('GET')) methods.push('HEAD');
    const allow = [...methods, 'OPTIONS'].join(', ');
    app.route({
      method: app.supportedMethods.filter(method => !methods.includes(method)),
      url: path,
      exposeHeadRoute: false,
      ...hooks,
      // Before the body is read.
      async onRequest(request, reply) {
        reply.header('allow', allow);
        if (request.method !== 'OPTIONS')
          throw new CodedError('METHOD_NOT_ALLOWED', `${request.method} is not possible here: use ${allow}.`);
      },
      handler: (_request, reply) => reply.code(204).send(),
    });
  }
}
