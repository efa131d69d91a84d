/** A JSON Schema of draft 2020-12, which is what OpenAPI 3.1 uses. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/**
 * What a body or an answer looks like on the wire. Most of it needs no words here: `given` and `selected` take types,
 * descriptions and limits from the GraphQL schema, by the wire's names.
 */
export type Shape = { readonly required?: boolean } & (Written | Taken);

type Written =
  | { readonly kind: 'plain'; readonly schema: JsonSchema }
  | { readonly kind: 'list'; readonly of: Shape; readonly schema: JsonSchema }
  | { readonly kind: 'object'; readonly fields: Fields; readonly schema: JsonSchema };

type Taken = { readonly kind: 'given' | 'selected'; readonly path: string } & Changes;

export type Fields = Readonly<Record<string, Shape>>;

/** How a shape that is taken from GraphQL differs from it. */
export interface Changes {
  /** Fields, by the wire's names, that are not there. */
  readonly without?: readonly string[];
  /** Fields, by the wire's names, that are there besides or look otherwise. */
  readonly with?: Fields;
}

interface Limits {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly example?: unknown;
}

const described = (about: string | undefined, example?: unknown): JsonSchema => ({
  ...(about && { description: about }),
  ...(example !== undefined && { examples: [example] }),
});

const plain = (schema: JsonSchema): Written => ({ kind: 'plain', schema });

/** @param limits `min` and `max` are counts of characters */
export const text = (about: string, { min, max, pattern, format, example }: Limits = {}): Written =>
  plain({
    type: 'string',
    ...described(about, example),
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
    ...(pattern && { pattern }),
    ...(format && { format }),
  });

export const integer = (about: string, { min, max, example }: Limits = {}): Written =>
  plain({
    type: 'integer',
    ...described(about, example),
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  });

export const number = (about: string, { min, max, example }: Limits = {}): Written =>
  plain({
    type: 'number',
    ...described(about, example),
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  });

/** The id of a row as REST writes it. */
export const id = (about: string): Written =>
  plain({ type: 'integer', format: 'int64', minimum: 0, ...described(about) });

export const flag = (about: string, example?: boolean): Written =>
  plain({ type: 'boolean', ...described(about, example) });

/** True or false in version 1. */
export const bit = (about: string): Written => plain({ ...BIT, ...described(about) });

export const BIT: JsonSchema = { type: 'integer', enum: [0, 1] };

export const choice = (words: readonly string[], about: string): Written =>
  plain({ type: 'string', enum: words, ...described(about) });

/** An instant as REST writes it. */
export const time = (about: string): Written => plain({ ...TIME, ...described(about) });

export const TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$`,
  examples: ['2026-01-01T07:58:39+00:00'],
};

/** The same in version 1. */
export const LEGACY_TIME: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.000000Z$`,
  examples: ['2026-04-08T14:30:25.000000Z'],
};

/** A file in a multipart body; a JSON body does not have it. */
export const file = (about: string): Written => plain({ type: 'string', format: 'binary', ...described(about) });

export const anything = (about: string): Written => plain(described(about));

/** @param limits `min` and `max` are counts of items */
export const list = (of: Shape, about?: string, { min, max, example }: Limits = {}): Written => ({
  kind: 'list',
  of,
  schema: {
    ...described(about, example),
    ...(min !== undefined && { minItems: min }),
    ...(max !== undefined && { maxItems: max }),
  },
});

export const object = (fields: Fields, about?: string): Written => ({
  kind: 'object',
  fields,
  schema: described(about),
});

/** An object whose keys are not known beforehand. */
export const dictionary = (about: string): Written => plain({ type: 'object', ...described(about) });

/** May be null. What is taken from GraphQL knows that by itself. */
export function nullable(shape: Written): Shape {
  const type = shape.kind === 'plain' ? shape.schema['type'] : shape.kind === 'list' ? 'array' : 'object';
  const words = shape.schema['enum'];
  const schema = { ...shape.schema, type: [type, 'null'], ...(Array.isArray(words) && { enum: [...words, null] }) };
  return { ...shape, schema };
}

/** Of a body, whose fields may be missing unless it is said. */
export const required = (shape: Shape): Shape => ({ ...shape, required: true });

/** Of an answer, whose fields are always there unless it is said. */
export const optional = (shape: Shape): Shape => ({ ...shape, required: false });

/**
 * A part of what the document takes: a variable, or a field of an input, such as `input` or `input.contacts`. The fields of an
 * input get the wire's names; its idempotency key is a header of REST.
 */
export const given = (path: string, changes: Changes = {}): Shape => ({ kind: 'given', path, ...changes });

/** A part of what the document selects, by the names in the document, such as `batch.created`. */
export const selected = (path: string, changes: Changes = {}): Shape => ({ kind: 'selected', path, ...changes });
