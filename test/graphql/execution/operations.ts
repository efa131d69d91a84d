import {
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../../src/app/schema.ts';

export type Operation = 'query' | 'mutation';

export interface RootField {
  readonly operation: Operation;
  readonly name: string;
  readonly field: GraphQLField<unknown, unknown>;
}

/** All fields of Query and Mutation: a new one is there without anybody's remembering it. */
export const ROOT_FIELDS: readonly RootField[] = (['query', 'mutation'] as const).flatMap(operation => {
  const type = operation === 'query' ? schema.getQueryType() : schema.getMutationType();
  return Object.entries(type?.getFields() ?? {}).map(([name, field]) => ({ operation, name, field }));
});

/** A field with variables for all its required arguments, and the least that can be selected of it: of a payload its user errors. */
export function documentOf({ operation, name, field }: RootField, given: readonly string[] = []): string {
  const used = field.args.filter(argument => isNonNullType(argument.type) || given.includes(argument.name));
  const variables = used.map(argument => `$${argument.name}: ${argument.type}`).join(', ');
  const values = used.map(argument => `${argument.name}: $${argument.name}`).join(', ');
  return `${operation}${variables && ` (${variables})`} { ${name}${values && `(${values})`} ${selectionOf(getNamedType(field.type))} }`;
}

function selectionOf(type: GraphQLNamedType): string {
  if (isLeafType(type)) return '';
  const isPayload = isObjectType(type) && 'userErrors' in type.getFields();
  return isPayload ? '{ __typename userErrors { __typename code message path } }' : '{ __typename }';
}

/** One field of a one-of input: text, because a canned reply needs a scope more than the mutation. */
function leastChoice(type: GraphQLInputObjectType) {
  const fields = Object.values(type.getFields());
  return fields
    .filter(({ name }) => name === 'text')
    .concat(fields)
    .slice(0, 1);
}

/** The least value of a type: required fields alone. `ids` stands where an id is asked for. */
export function leastValue(type: GraphQLInputType, id: string): unknown {
  if (isNonNullType(type)) return leastValue(type.ofType, id);
  if (isListType(type)) return [leastValue(type.ofType, id)];
  if (isInputObjectType(type) && type.isOneOf)
    return Object.fromEntries(leastChoice(type).map(field => [field.name, leastValue(field.type, id)]));
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    const required = type.isOneOf
      ? leastChoice(type)
      : fields.filter(field => isNonNullType(field.type) && field.defaultValue === undefined);
    return Object.fromEntries(required.map(field => [field.name, leastValue(field.type, id)]));
  }
  if (isEnumType(type)) return type.getValues()[0]?.name;
  const values: Record<string, unknown> = {
    ID: id,
    Int: 1,
    Float: 1,
    Boolean: true,
    BigInt: 1,
    DateTime: '2026-01-01T00:00:00Z',
    EventType: '*',
    JSON: {},
  };
  return values[type.name] ?? 'contacts:read';
}

export const leastVariables = ({ field }: RootField, id: string): Record<string, unknown> =>
  Object.fromEntries(
    field.args
      .filter(argument => isNonNullType(argument.type))
      .map(argument => [argument.name, leastValue(argument.type, id)]),
  );

/** Where ids can be written below a field's arguments: paths such as `input.groupIds`. */
export function idPaths({ field }: RootField): string[] {
  const walk = (type: GraphQLInputType, path: string, above: readonly string[]): string[] => {
    const named = getNamedType(type);
    if (named.name === 'ID') return [path];
    if (!isInputObjectType(named) || above.includes(named.name)) return [];
    return Object.values(named.getFields()).flatMap(inner =>
      walk(inner.type, `${path}.${inner.name}`, [...above, named.name]),
    );
  };
  return field.args.flatMap(argument => walk(argument.type, argument.name, []));
}

/** Names of the object types that `node` can give. */
export const NODE_TYPES: readonly string[] = Object.values(schema.getTypeMap())
  .filter(type => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'))
  .map(({ name }) => name);
