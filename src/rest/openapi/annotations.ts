import { type GraphQLInputType, type GraphQLType, getNamedType, isEnumType, isInputObjectType } from 'graphql';
import { wireName } from '../wire/names.ts';
import type { JsonSchema } from './schema.ts';

/** Translates a description of the GraphQL schema to REST: `databaseId` is the only id, and enum values are in lower case. */
export function restDescription(description: string, type: GraphQLType): string {
  const named = getNamedType(type);
  const words = description.replace(/^Global id(s?) or databaseIds?/, 'Id$1').replaceAll('databaseId', 'id');
  if (!isEnumType(named)) return words;
  const values = new Set(named.getValues().map(value => value.name));
  return words.replace(/\b[A-Z][A-Z_]+\b/g, word => (values.has(word) ? `\`${word.toLowerCase()}\`` : word));
}

/** Realistic values, so that the documentation shows `Ana` rather than `string`. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  id: 1207,
  name: 'VIP',
  firstname: 'Ana',
  lastname: 'Silva',
  company: 'Silva Flowers',
  email: 'ana.silva@example.com',
  phone: '+14155550123',
  city: 'San Francisco',
  state: 'CA',
  zip: '94103',
  address: '1 Market Street',
  country_id: 840,
  time_zone: 'America/Los_Angeles',
  color: '#2E7D32',
  message: 'Hello @{contact_first_name}, your order is on its way.',
  message_id: 'wamid.HBgLMTQxNTU1NTAxMjMVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
  chat_message_id: '019b7a2e-5f5c-7d1e-9a44-0c6f7a1f3b52',
  groups: [3, 4],
  contact_ids: [1207, 1208],
};

/** `examples` for a field of this name, if there is one of this type. */
export function exampleOf(name: string, type: unknown): JsonSchema {
  const example = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
  const exampleType = Array.isArray(example) ? 'array' : typeof example === 'number' ? 'integer' : 'string';
  return example !== undefined && [type].flat().includes(exampleType) ? { examples: [example] } : {};
}

/** A field of an input, or an argument. */
interface InputField {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly description?: string | null | undefined;
  readonly defaultValue?: unknown;
}

/** Adds descriptions, defaults and examples to a body's schema, from the GraphQL fields with the same names. */
export function annotate(schema: JsonSchema, fields: readonly InputField[]): JsonSchema {
  const { properties, items, oneOf } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly items?: JsonSchema;
    readonly oneOf?: readonly JsonSchema[];
  };
  if (oneOf) return { ...schema, oneOf: oneOf.map(option => annotate(option, fields)) };
  if (items) return { ...schema, items: annotate(items, fields) };
  if (!properties) return schema;
  const byName = new Map(fields.map(field => [wireName(field.name), field]));
  const annotated = Object.entries(properties).map(([name, property]) => {
    const { type, description, defaultValue } = byName.get(name) ?? {};
    const known = {
      ...(type && description && { description: restDescription(description, type) }),
      ...(defaultValue !== undefined && { default: defaultValue }),
      ...exampleOf(name, property['type']),
    };
    return [name, annotate({ ...known, ...property }, fieldsOf(type))] as const;
  });
  return { ...schema, properties: Object.fromEntries(annotated) };
}

/** The fields of an input type, also within lists. */
export function fieldsOf(type: GraphQLType | undefined): readonly InputField[] {
  const named = type && getNamedType(type);
  return isInputObjectType(named) ? Object.values(named.getFields()) : [];
}
