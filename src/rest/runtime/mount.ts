import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../../core/errors.ts';
import type { Caller } from '../../graphql/execution/kernel.ts';
import { refuseOtherMethods } from '../../http/other-methods.ts';
import { parseJsonBody } from '../../http/request-body.ts';
import type { RestRequest } from './call.ts';
import { type ApiVersion, execute, type WireResponse, wireError } from './execute.ts';
import { acceptForms, filesOf, readForm } from './form.ts';
import type { RestHost } from './host.ts';
import { costOfOperations, scopesOfDocument } from './requirements.ts';
import { restErrorOfThrown } from './rest-error.ts';
import { isChange, type Route } from './route.ts';

/** Registers a route table on a separate Fastify scope, with the version's bodies, and its errors for unknown paths and methods. */
export function mount(app: FastifyInstance, host: RestHost, routes: readonly Route[], version: ApiVersion): void {
  app.decorateRequest('caller', null);
  // An error can occur before any of our hooks.
  const announce = (request: RestRequest, reply: FastifyReply) => reply.headers(version.headers?.(request) ?? {});
  const callerOf = (request: RestRequest): Caller | null => request.getDecorator<Caller | null>('caller');

  acceptJsonOnly(app);
  app.setErrorHandler((error, request: RestRequest, reply) => {
    const requestId = callerOf(request)?.requestId ?? request.id;
    const thrown = restErrorOfThrown(error, requestId, host.log);
    announce(request, reply);
    return send(reply, wireError(version, thrown, request, { requestId, nowMs: host.clock.now() }), requestId);
  });
  app.setNotFoundHandler(() => {
    throw new CodedError('NOT_FOUND', 'There is no route at this URL.');
  });

  if (version.headers)
    app.addHook('onRequest', async (request: RestRequest, reply) => {
      announce(request, reply);
    });

  const prefix = version.pathPrefix ?? '';
  const operationsOf = (route: Route) =>
    new Map(route.documents.map(document => [document, host.kernel.prepareTrusted(document)]));
  for (const route of routes) {
    const executable = {
      route,
      operations: operationsOf(route),
      scopes: scopesOfDocument(route.documents[0], host.kernel.schema),
    };
    const get = isChange(route)
      ? routes.find(({ method, path }) => method === 'GET' && path === route.path)
      : undefined;
    const read = get && { route: get, operations: operationsOf(get) };
    const files = filesOf(route.body);
    const add = (scope: FastifyInstance): void => {
      scope.route<{ Querystring: RestRequest['query']; Params: RestRequest['params'] }>({
        method: route.method,
        url: prefix + route.path,
        exposeHeadRoute: route.method === 'GET',
        config: { upload: files.length > 0, points: costOfOperations([...executable.operations.values()]) },
        // Before the body is read, so that a request without a valid token costs no parsing.
        async onRequest(request, reply) {
          request.setDecorator<Caller>('caller', await version.authenticate(host, request, reply));
        },
        async handler(request, reply) {
          const caller = callerOf(request) ?? { principal: undefined, requestId: request.id };
          if (files.length > 0 && request.isMultipart()) request.body = await readForm(request, host, caller, files);
          return send(reply, await execute(host, version, executable, request, caller, read), caller.requestId);
        },
      });
    };
    if (files.length === 0) add(app);
    else
      app.register(async scope => {
        await acceptForms(scope);
        add(scope);
      });
  }
  refuseOtherMethods(
    app,
    routes.map(({ method, path }) => ({ method, path: prefix + path })),
  );
}

function send(reply: FastifyReply, { status, headers, body }: WireResponse, requestId: string): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .header('x-request-id', requestId)
    .send(status === 304 ? undefined : body);
}

function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    /^application\/([\w.-]+\+)?json\b/i,
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => parseJsonBody(body),
  );
}
