import { z } from 'zod';

/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 uses. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schema of an answer, or of a part of it. Parts may be `selected`. */
export type AnswerSchema = z.ZodType;

/** Fields of an answer that differ from the document's selection, by their names on the wire. */
export interface SchemaOverrides {
  readonly without?: readonly string[];
  readonly with?: Readonly<Record<string, AnswerSchema>>;
}

/** A part of an answer whose schema is derived elsewhere. */
export type Derived =
  | { readonly kind: 'selected'; readonly path: string; readonly overrides: SchemaOverrides }
  | { readonly kind: 'named'; readonly name: string; readonly schema: AnswerSchema }
  | { readonly kind: 'sent'; readonly body: z.ZodType; readonly input: string | undefined; readonly nulls: boolean };

const DERIVED = new WeakMap<object, Derived>();

function placeholderOf(part: Derived): AnswerSchema {
  const placeholder = z.any();
  DERIVED.set(placeholder, part);
  return placeholder;
}

/** A part of what the document selects, by the names in the document, such as `batch.created`. */
export const selectionOf = (path: string, overrides: SchemaOverrides = {}): AnswerSchema =>
  placeholderOf({ kind: 'selected', path, overrides });

/** A part of an answer that several operations share: a component of this name. */
export const named = (name: string, schema: AnswerSchema): AnswerSchema =>
  placeholderOf({ kind: 'named', name, schema });

/**
 * A part of a body, returned as it was sent.
 * @param input the GraphQL input type that describes its fields
 * @param nulls whether nulls are returned too
 */
export const echoOf = (body: z.ZodType, input?: string, nulls = false): AnswerSchema =>
  placeholderOf({ kind: 'sent', body, input, nulls });

/** The id of a row in an answer. */
export const rowId = (description: string) => z.int().nonnegative().meta({ format: 'int64', description });

/** A time in an answer. */
export const timestamp = (description: string, format: JsonSchema = TIME) =>
  z.string().meta({ ...format, description });

/** A boolean in an answer of version 1. */
export const bitSchema = (description: string) => z.int().meta({ ...BIT, description });

export const BIT: JsonSchema = { type: 'integer', enum: [0, 1] };

export const TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$`,
  examples: ['2026-01-01T07:58:39+00:00'],
};

/** A time in version 1. */
export const LEGACY_TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.000000Z$`,
  examples: ['2026-04-08T14:30:25.000000Z'],
};

/**
 * The JSON Schema of a request or response body.
 * @param resolve the schema of a derived part; objects of an answer are then closed
 */
export function jsonSchemaOf(schema: z.ZodType, resolve?: (part: Derived) => JsonSchema): JsonSchema {
  const { $schema: _draft, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => {
      // Bounds of a 64-bit float say nothing about a field.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // zod omits these for transformed fields, although ours are those of the input.
      const { examples, default: standard } = z.globalRegistry.get(zodSchema as z.core.$ZodType) ?? {};
      if (examples !== undefined) jsonSchema.examples = examples as never;
      if (standard !== undefined) jsonSchema.default = standard as never;
      mergeNull(jsonSchema);
      const part = DERIVED.get(zodSchema);
      if (part && resolve) Object.assign(jsonSchema, resolve(part));
      if (resolve && zodSchema._zod.def.type === 'object') jsonSchema.additionalProperties = false;
    },
  });
  return json;
}

/** Rewrites `anyOf: [{ type: 'string' }, { type: 'null' }]` to `type: ['string', 'null']`, which documentation shows in one line. */
function mergeNull(schema: Record<string, unknown>): void {
  const { anyOf } = schema as { readonly anyOf?: readonly JsonSchema[] };
  const [present, absent] = anyOf ?? [];
  if (!present || anyOf?.length !== 2 || absent?.['type'] !== 'null' || present['type'] === undefined) return;
  delete schema['anyOf'];
  Object.assign(schema, orNull(present), schema);
}

export function orNull(schema: JsonSchema): JsonSchema {
  if (schema['$ref'] !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (schema['type'] === undefined) return schema;
  const words = schema['enum'];
  return { ...schema, type: [schema['type'], 'null'].flat(), ...(Array.isArray(words) && { enum: [...words, null] }) };
}

/** Converts the schema of a body to that of a response: objects are closed, and booleans are written as `flag`. */
export function closeObjects(schema: JsonSchema, flag: JsonSchema, nulls: boolean): JsonSchema {
  const {
    type,
    enum: words,
    properties,
    items,
    ...others
  } = schema as JsonSchema & {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly items?: JsonSchema;
  };
  const types = [type ?? []].flat().filter(name => nulls || name !== 'null');
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) => [name, closeObjects(field, flag, nulls)] as const,
  );
  return {
    ...others,
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(words) && { enum: words.filter(word => nulls || word !== null) }),
    ...(types[0] === 'boolean' && flag),
    ...(items && { items: closeObjects(items, flag, nulls) }),
    ...(properties && { properties: Object.fromEntries(fields), additionalProperties: false }),
  };
}

/** An object that has these fields and no other. */
export const closedObject = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
