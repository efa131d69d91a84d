import { type GraphQLSchema, isInputObjectType } from 'graphql';
import {
  DEFAULT_PER_PAGE,
  type FilterKind,
  type ListFields,
  MAX_PER_PAGE,
  OPERATORS,
  operatorsOf,
} from '../list-query.ts';
import type { RowFields } from '../query.ts';
import type { Components } from './components.ts';
import type { JsonSchema } from './shape.ts';

const parameter = (name: string, description: string, schema: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
});

const words = (known: readonly string[]): JsonSchema => ({ type: 'array', items: { type: 'string', enum: known } });
const WITH_COMMAS: JsonSchema = { style: 'form', explode: false };

/** `fields` and `include`, where the rows have any to choose. */
export function rowParameters({ fields, includes }: RowFields): JsonSchema[] {
  if (fields.length === 0) return [];
  const all = [...fields, ...includes];
  const include = parameter('include', 'Objects to show besides.', words(includes), WITH_COMMAS);
  return [
    parameter('fields', 'Show these alone. What is not shown is not read either.', words(all), WITH_COMMAS),
    ...(includes.length > 0 ? [include] : []),
  ];
}

/** What every list takes, with what this one can be sorted and filtered by. */
export function listParameters(
  { filters, sorts }: ListFields<string, string>,
  schema: GraphQLSchema,
  components: Components,
): JsonSchema[] {
  const shared = (name: string, description: string, of: JsonSchema): JsonSchema =>
    components.add('parameters', name, parameter(name, description, of));
  const keys = Object.keys(sorts).flatMap(key => [key, `-${key}`]);
  const sort = parameter(
    'sort',
    'Keys in their order; a minus sign in front turns one round.',
    words(keys),
    WITH_COMMAS,
  );
  return [
    shared('page', 'Which page.', { type: 'integer', minimum: 1, default: 1 }),
    shared('per_page', 'Rows of a page.', {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PER_PAGE,
      default: DEFAULT_PER_PAGE,
    }),
    ...(keys.length > 0 ? [sort] : []),
    shared('search', 'Text to look for.', { type: 'string' }),
    shared('q', 'Another name of `search`.', { type: 'string' }),
    ...Object.entries(filters).map(([field, [, kind]]) =>
      parameter(
        `filter[${field}]`,
        `By \`${field}\`: \`filter[${field}]=…\`, or with an operator \`filter[${field}][gte]=…\`. All conditions have to hold.`,
        components.add('schemas', COMPARISON_NAMES[kind], comparison(kind, schema)),
        // An empty example, because Swagger UI would send the one that it makes up.
        { style: 'deepObject', explode: true, example: {} },
      ),
    ),
  ];
}

const COMPARISON_NAMES: Readonly<Record<FilterKind, string>> = {
  text: 'TextComparison',
  word: 'TextComparison',
  id: 'IdComparison',
  time: 'TimeComparison',
  flag: 'FlagComparison',
  choice: 'ChoiceComparison',
};

/** The operators with what the GraphQL filter of the kind says about each. */
function comparison(kind: FilterKind, schema: GraphQLSchema): JsonSchema {
  const input = schema.getType(
    {
      text: 'StringFilter',
      word: 'StringFilter',
      id: 'IDFilter',
      time: 'DateTimeFilter',
      flag: 'StringFilter',
      choice: 'StringFilter',
    }[kind],
  );
  if (!isInputObjectType(input)) throw new Error(`There is no filter for ${kind}.`);
  const fields = input.getFields();
  const value: JsonSchema = {
    text: { type: 'string' },
    word: { type: 'string' },
    id: { type: 'integer', format: 'int64' },
    time: { type: 'string', description: 'A date, or an instant by ISO 8601.' },
    flag: { enum: [true, false, 1, 0] },
    choice: { type: 'string' },
  }[kind];
  const operators = Object.entries(OPERATORS).flatMap(([word, name]) => {
    const field = fields[name];
    if (!field || !operatorsOf(kind).includes(word)) return [];
    const description = `${field.description ?? ''}${isSeveral(name) ? ' With commas between.' : ''}`;
    const of = name === 'isNull' ? { type: 'boolean' } : isSeveral(name) ? { type: 'string' } : value;
    return [[word, { ...of, description }] as const];
  });
  return { type: 'object', properties: Object.fromEntries(operators), additionalProperties: false };
}

const isSeveral = (name: string): boolean => name === 'in' || name === 'notIn' || name === 'between';
