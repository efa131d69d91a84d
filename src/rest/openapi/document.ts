import type { GraphQLSchema } from 'graphql';
import type { Route } from '../runtime/route.ts';
import { Components } from './components.ts';
import type { ApiDescription } from './description.ts';
import { describeOperation, tagOf } from './operation.ts';
import type { JsonSchema } from './schema.ts';

/**
 * Generates the OpenAPI 3.1 document of a route table. Paths and bodies come from the table, scopes, types and descriptions from the
 * GraphQL schema, responses from the documents' selections; only the properties of `Described` are written for it.
 * @throws if a row describes a field that its document does not select
 */
export function openApiOf(routes: readonly Route[], schema: GraphQLSchema, api: ApiDescription): JsonSchema {
  const components = new Components();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const operations = paths[path] ?? {};
    operations[route.method.toLowerCase()] = describe(route, schema, api, components);
    paths[path] = operations;
  }
  const used = new Set(routes.map(route => tagOf(route.path)));
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: api.version,
      description: api.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [api.server ?? { url: api.prefix }],
    tags: [...used].map(name => ({ name, ...(api.tags[name] && { description: api.tags[name] }) })),
    paths,
    components: { ...components.toJSON(), securitySchemes: { bearer: BEARER } },
  };
}

const BEARER: JsonSchema = { type: 'http', scheme: 'bearer', description: 'An access token of the tenant: `ply_…`.' };

function describe(route: Route, schema: GraphQLSchema, api: ApiDescription, components: Components): JsonSchema {
  try {
    return describeOperation(route, schema, api, components);
  } catch (error) {
    throw new Error(`${route.method} ${route.path} cannot be described.`, { cause: error });
  }
}
