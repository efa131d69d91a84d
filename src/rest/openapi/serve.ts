import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMethods } from '../mount.ts';
import { namesEtag, strongEtag } from '../validator.ts';
import { INITIALIZER, PAGE, POLICY } from './page.ts';
import type { JsonSchema } from './shape.ts';

/** What is sent, with the tag that stands for it to the byte. */
interface Content {
  readonly type: string;
  readonly body: string | Buffer;
  readonly etag: string;
}

const content = (type: string, body: string | Buffer): Content => ({ type, body, etag: strongEtag(body) });

/** Of the package, these alone: the page loads nothing else. */
const PACKAGE_FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/**
 * Serves `openapi.json`, and at `docs` a page to read it and try it. Neither needs a token: they show nothing of a tenant.
 *
 * Swagger UI comes from the static files that `@fastify/swagger-ui` carries, under a policy that lets it load and call nothing
 * but this origin. The plugin itself is not registered: it needs `@fastify/swagger`, which derives documents from Fastify's own route
 * schemas, and its policy allows the styles and fonts of any host.
 *
 * @param describe makes the document; called once, at the first request for it
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
