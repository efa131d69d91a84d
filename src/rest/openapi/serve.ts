import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { namesEtag, weakEtag } from '../../http/etag.ts';
import { refuseOtherMethods } from '../../http/other-methods.ts';
import type { JsonSchema } from './schema.ts';

/** A file with its entity tag, which is weak because responses may be compressed. */
interface Content {
  readonly type: string;
  readonly body: string | Buffer;
  readonly etag: string;
}

const content = (type: string, body: string | Buffer): Content => ({ type, body, etag: weakEtag(body) });

/** The files of the package that the page loads. */
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * Serves `openapi.json` and, at `docs`, Swagger UI. Neither needs a token, because they contain nothing of a tenant.
 *
 * Only the static files of `@fastify/swagger-ui` are used, under a policy that restricts them to this origin. The plugin itself is
 * not registered: it needs `@fastify/swagger`, which derives documents from Fastify's route schemas, and its policy allows styles and
 * fonts of any host.
 *
 * @param describe makes the document; called once, on the first request for it
 */
export function serveOpenApi(app: FastifyInstance, describe: () => JsonSchema): void {
  const contents = new Map<string, () => Content | Promise<Content>>([
    ['/openapi.json', () => content('application/json; charset=utf-8', JSON.stringify(describe()))],
    ['/docs', () => content('text/html; charset=utf-8', PAGE)],
    ['/docs/initializer.js', () => content('text/javascript; charset=utf-8', INITIALIZER)],
    ...Object.entries(PACKAGE_FILES).map(
      ([name, type]) =>
        [`/docs/${name}`, async () => content(type, await readFile(join(staticFiles(), name)))] as const,
    ),
  ]);
  for (const [path, make] of contents) {
    let made: Promise<Content> | undefined;
    app.get(path, async (request, reply) => {
      made ??= Promise.resolve(make());
      return answer(request, reply, await made);
    });
  }
  refuseOtherMethods(
    app,
    [...contents.keys()].map(path => ({ method: 'GET', path })),
  );
}

const staticFiles = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static');

function answer({ headers }: FastifyRequest, reply: FastifyReply, { type, body, etag }: Content): FastifyReply {
  reply.headers({
    etag,
    'cache-control': 'no-cache',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  return namesEtag(headers['if-none-match'], etag) ? reply.code(304).send() : reply.type(type).send(body);
}

/** Addresses are relative to the page, `…/docs`, so that it works behind any prefix. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Parley: the REST interface</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/initializer.js"></script>
  </body>
</html>
`;

/** A separate file, because the policy forbids inline scripts. The token is not stored. */
const INITIALIZER = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** Only this origin; Swagger UI uses inline styles, and icons from data URLs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
