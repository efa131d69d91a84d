import {
  type GraphQLInputType,
  type GraphQLNamedInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { wireName } from '../wire-names.ts';
import { exampleOf } from './examples.ts';
import { inWords } from './in-words.ts';
import { limitsIn } from './limits.ts';
import type { JsonSchema } from './shape.ts';

/** What REST has in headers, or decides itself. */
const NOT_IN_BODIES: ReadonlySet<string> = new Set(['idempotencyKey', 'waitForAcceptance']);

/**
 * What a value of an input type looks like in REST: fields by the wire's names, enum values in lower case, ids as numbers.
 * Clients that send more than we know are served, so objects are open.
 */
export function inputSchema(type: GraphQLInputType, name: string, description = ''): JsonSchema {
  const schema = bare(isNonNullType(type) ? type.ofType : type, name, description);
  const about = { ...(description && { description: inWords(description, type) }), ...schema };
  return isNonNullType(type) ? about : orNull(about);
}

function bare(type: GraphQLInputType, name: string, description: string): JsonSchema {
  if (isNonNullType(type)) return bare(type.ofType, name, description);
  if (isListType(type))
    return {
      type: 'array',
      items: bare(type.ofType, '', ''),
      ...limitsIn(description, 'list'),
      ...exampleOf(name, 'array'),
    };
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(field => !NOT_IN_BODIES.has(field.name));
    const required = fields.filter(field => isNonNullType(field.type) && field.defaultValue === undefined);
    const inOrder = [...required, ...fields.filter(field => !required.includes(field))];
    const properties = inOrder.map(field => {
      const wire = wireName(field.name);
      const schema = inputSchema(field.type, wire, field.description ?? '');
      const standard = field.defaultValue === undefined ? {} : { default: field.defaultValue };
      return [wire, { ...schema, ...standard }] as const;
    });
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required: required.map(field => wireName(field.name)) }),
    };
  }
  return scalar(type, name, description);
}

function scalar(type: GraphQLNamedInputType, name: string, description: string): JsonSchema {
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(value => value.name.toLowerCase()) };
  switch (type.name) {
    case 'ID':
    case 'BigInt':
      return { type: 'integer', format: 'int64', minimum: 0, ...exampleOf(name, 'integer') };
    case 'Int':
      return { type: 'integer', ...limitsIn(description, 'number'), ...exampleOf(name, 'integer') };
    case 'Float':
      return { type: 'number', ...limitsIn(description, 'number') };
    case 'Boolean':
      return { type: 'boolean' };
    case 'DateTime':
      return { type: 'string', format: 'date-time' };
    case 'JSON':
      return {};
    default:
      return { type: 'string', ...limitsIn(description, 'text'), ...exampleOf(name, 'string') };
  }
}

export function orNull(schema: JsonSchema): JsonSchema {
  if (schema['$ref'] !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (typeof schema['type'] !== 'string') return schema;
  const words = schema['enum'];
  return { ...schema, type: [schema['type'], 'null'], ...(Array.isArray(words) && { enum: [...words, null] }) };
}
