import type { GraphQLSchema } from 'graphql';
import type { ErrorCode } from '../../errors.ts';
import type { Route } from '../route.ts';
import { Components } from './components.ts';
import type { HeaderName } from './headers.ts';
import { describeOperation, tagOf } from './operation.ts';
import type { WireSchemas } from './output.ts';
import type { JsonSchema } from './shape.ts';

/** What one version of the interface says about itself. */
export interface ApiDescription {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Where the paths begin. */
  readonly prefix: string;
  /** Where the table's paths begin; `prefix` where nothing is said. */
  readonly server?: JsonSchema;
  /** What the first part of a path is about. */
  readonly tags: Readonly<Record<string, string>>;
  /** Nobody should begin to use it. */
  readonly deprecated?: true;
  /** Whether `fields` and `include` choose what rows show, or they are always whole. */
  readonly rows: 'chosen' | 'whole';
  /** What there is no type for in JSON, or another one. */
  readonly wire: WireSchemas;
  /** What every answer has in its headers. */
  readonly headers: readonly HeaderName[];
  /** The body of success. @param data what is shown; of a list, one of its rows */
  success(data: JsonSchema, isList: boolean, components: Components): JsonSchema;
  /** The bodies of a refusal with one of these codes, by media type. */
  failure(status: number, codes: readonly ErrorCode[], components: Components): Readonly<Record<string, JsonSchema>>;
  /** What any of its operations may refuse with, beside what all versions do. */
  readonly errors: readonly ErrorCode[];
  /** What `details` has, for those who are told. */
  readonly details: Partial<Record<ErrorCode, string>>;
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
    operations[route.method.toLowerCase()] = described(route, schema, api, components);
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

function described(route: Route, schema: GraphQLSchema, api: ApiDescription, components: Components): JsonSchema {
  try {
    return describeOperation(route, schema, api, components);
  } catch (error) {
    throw new Error(`${route.method} ${route.path} cannot be described.`, { cause: error });
  }
}
