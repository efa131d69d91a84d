import type { GraphQLSchema } from 'graphql';
import type { Route } from '../route.ts';
import { Components } from './components.ts';
import { describeOperation, tagOf } from './operation.ts';
import type { JsonSchema } from './shape.ts';

/** What one version of the interface says about itself. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Where the paths begin. */
  readonly prefix: string;
  /** What the first part of a path is about. */
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * The OpenAPI 3.1 document of a route table. Nothing in it is written for it alone but what `Described` says: paths come from the
 * table, scopes, types, descriptions and limits from the GraphQL schema, answers from what the documents select.
 * @throws when a row describes what its document does not have
 */
export function openApiOf(routes: readonly Route[], schema: GraphQLSchema, api: ApiDescription): JsonSchema {
  const components = new Components();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const operations = paths[path] ?? {};
    operations[route.method.toLowerCase()] = described(route, schema, components);
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
    servers: [{ url: api.prefix }],
    tags: [...used].map(name => ({ name, ...(api.tags[name] && { description: api.tags[name] }) })),
    paths,
    components: { ...components.toJSON(), securitySchemes: { bearer: BEARER } },
  };
}

const BEARER: JsonSchema = { type: 'http', scheme: 'bearer', description: 'An access token of the tenant: `ply_…`.' };

function described(route: Route, schema: GraphQLSchema, components: Components): JsonSchema {
  try {
    return describeOperation(route, schema, components);
  } catch (error) {
    throw new Error(`${route.method} ${route.path} cannot be described.`, { cause: error });
  }
}
