import type { ErrorCode } from '../../errors.ts';
import type { Components } from '../openapi/components.ts';
import { closedObject } from '../openapi/output.ts';
import type { JsonSchema } from '../openapi/shape.ts';
import { titleOf } from './envelope.ts';

const MESSAGE: JsonSchema = { type: 'string', description: 'For people.' };

/** The body of every success of version 1: a list is a paginator. */
export const success = (data: JsonSchema, isList: boolean, components: Components): JsonSchema =>
  closedObject({ status: { const: 'success' }, message: MESSAGE, data: isList ? paginator(data, components) : data }, [
    'status',
    'message',
    'data',
  ]);

const text = (description: string): JsonSchema => ({ type: 'string', description });
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const whole = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], minimum: 1, description });

const LINK = closedObject(
  {
    url: textOrNull('Null where it leads nowhere.'),
    label: text('What stands on it; as HTML.'),
    active: { type: 'boolean', description: 'Whether it is this page.' },
  },
  ['url', 'label', 'active'],
);

function paginator(row: JsonSchema, components: Components): JsonSchema {
  const properties = {
    current_page: whole('This page.'),
    data: { type: 'array', items: row },
    first_page_url: text('The first page.'),
    from: wholeOrNull('The first row of this page, counted from 1; null on an empty page.'),
    last_page: whole('The last page.'),
    last_page_url: text('Its address.'),
    links: { type: 'array', items: components.add('schemas', 'PageLink', LINK), description: 'To be shown in a row.' },
    next_page_url: textOrNull('The page behind this one.'),
    path: text('The list without parameters.'),
    per_page: whole('Rows of a page.'),
    prev_page_url: textOrNull('The page before this one.'),
    to: wholeOrNull('The last row of this page.'),
    total: whole('Rows of the list.'),
  };
  return closedObject(properties, Object.keys(properties));
}

const BY_FIELD = closedObject(
  {
    status: { const: 'error' },
    message: MESSAGE,
    errors: {
      type: 'object',
      description: 'What is wrong, by field.',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
  },
  ['status', 'message', 'errors'],
);

const RATE = closedObject(
  { message: MESSAGE, retry_after: { type: 'integer', minimum: 1, description: 'Seconds to wait.' } },
  ['message', 'retry_after'],
);

/** The body of its refusals. */
export function failure(_status: number, codes: readonly ErrorCode[]): Readonly<Record<string, JsonSchema>> {
  const others = codes.filter(code => code !== 'VALIDATION_ERROR' && code !== 'RATE_LIMIT_EXCEEDED');
  const shapes: JsonSchema[] = [
    ...(codes.includes('VALIDATION_ERROR') ? [BY_FIELD] : []),
    ...(codes.includes('RATE_LIMIT_EXCEEDED') ? [RATE] : []),
    ...(others.length > 0 ? [inWords(others)] : []),
  ];
  const [only] = shapes;
  return { 'application/json': shapes.length === 1 && only ? only : { oneOf: shapes } };
}

const inWords = (codes: readonly ErrorCode[]): JsonSchema =>
  closedObject(
    {
      status: { const: 'error' },
      message: { type: 'string', enum: codes.map(titleOf), description: 'One for each kind of refusal, for programs.' },
      errors: { type: 'string', description: 'Why, for people.' },
    },
    ['status', 'message', 'errors'],
  );
