import { printSchemaWithDirectives } from '@graphql-tools/utils';
import {
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
} from 'graphql';

/** Prints a schema as `schema.graphql` has it. Unlike the printer of graphql-js it keeps the directives of fields (`@requiresScopes`). */
export const printSdl = (schema: GraphQLSchema): string =>
  `${printSchemaWithDirectives(lexicographicSortSchema(schema))}\n`;

/** Custom scalars that are not strings in JSON. */
const TYPESCRIPT_TYPES: Readonly<Record<string, string>> = { BigInt: 'number', JSON: 'unknown' };

/** Returns the TypeScript type of each custom scalar in JSON, in the form of graphql-codegen's option `scalars`. */
export const scalarTypes = (schema: GraphQLSchema): Readonly<Record<string, string>> =>
  Object.fromEntries(
    typesByName(schema)
      .filter(type => isScalarType(type) && !isSpecifiedScalarType(type))
      .map(({ name }) => [name, TYPESCRIPT_TYPES[name] ?? 'string']),
  );

/** Returns the object types of each interface and union, in the form of Apollo Client's option `possibleTypes`. */
export const possibleTypes = (schema: GraphQLSchema): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    typesByName(schema)
      .filter(isAbstractType)
      .map(type => [
        type.name,
        schema
          .getPossibleTypes(type)
          .map(({ name }) => name)
          .sort(),
      ]),
  );

/** Arguments of a connection that say which page it is, and not which list. */
const PAGE_ARGS: ReadonlySet<string> = new Set(['first', 'after', 'last', 'before', 'offset', 'around']);

/** Cache settings for normalized caches of clients, as a module of the package @parley/client. */
export function cacheFacts(schema: GraphQLSchema): string {
  const objects = typesByName(schema)
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'));
  const roots = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
  const keyless = objects.filter(type => !roots.has(type) && type.getFields()['id'] === undefined);
  const connections = objects.flatMap(type => {
    const fields = Object.values(type.getFields()).filter(field =>
      getNamedType(field.type).name.endsWith('Connection'),
    );
    return fields.length > 0
      ? [[type.name, Object.fromEntries(fields.map(({ name, args }) => [name, keyArgs(args)]))] as const]
      : [];
  });
  const literal = (value: unknown): string => JSON.stringify(value, null, 2);
  return [
    '/** Object types without `id`, which are parts of their parents. */',
    `export const KEYLESS_TYPES: readonly string[] = ${literal(keyless.map(({ name }) => name))};`,
    '',
    '/** Connections by type and field, with the arguments that distinguish lists. */',
    `export const CONNECTIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = ${literal(Object.fromEntries(connections))};`,
    '',
    '/** Object types of each interface and union. */',
    `export const POSSIBLE_TYPES: Readonly<Record<string, readonly string[]>> = ${literal(possibleTypes(schema))};`,
    '',
  ].join('\n');
}

const keyArgs = (args: readonly { readonly name: string }[]): string[] =>
  args.map(({ name }) => name).filter(name => !PAGE_ARGS.has(name));

const typesByName = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).sort((one, other) => (one.name < other.name ? -1 : 1));
