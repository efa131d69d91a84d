import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { namesEtag, weakEtag } from '../../http/etag.ts';
import { refuseOtherMethods } from '../../http/other-methods.ts';
import { possibleTypes, printSdl, scalarTypes } from '../../schema/sdl.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Path, content type and text of each file. The text is made by the first request. */
const FILES: readonly (readonly [path: string, type: string, make: (schema: GraphQLSchema) => string])[] = [
  ['/schema.graphql', 'text/plain; charset=utf-8', printSdl],
  ['/schema/scalars.json', JSON_TYPE, schema => JSON.stringify(scalarTypes(schema))],
  ['/schema/possible-types.json', JSON_TYPE, schema => JSON.stringify(possibleTypes(schema))],
];

/** Registers the public description of the schema: SDL, and what code generators and caches of clients need. */
export function registerSchemaFiles(app: FastifyInstance, schema: GraphQLSchema): void {
  for (const [path, type, make] of FILES) {
    let file: { readonly body: string; readonly etag: string } | undefined;
    app.get(path, async ({ headers }, reply) => {
      if (!file) {
        const body = make(schema);
        file = { body, etag: weakEtag(body) };
      }
      const { body, etag } = file;
      reply.headers({ etag, 'cache-control': 'public, max-age=300' });
      return namesEtag(headers['if-none-match'], etag) ? reply.code(304).send() : reply.type(type).send(body);
    });
  }
  refuseOtherMethods(
    app,
    FILES.map(([path]) => ({ method: 'GET', path })),
  );
}
