import { type GraphQLSchema, isInputObjectType } from 'graphql';
import { MAX_PAGE_SIZE } from '../../core/list-args.ts';
import { type FilterKind, operatorsOf } from '../runtime/filter.ts';
import { type AnyListFields, DEFAULT_PER_PAGE } from '../runtime/query.ts';
import type { RowFields } from '../runtime/sparse.ts';
import type { Components } from './components.ts';
import type { JsonSchema } from './schema.ts';

const parameter = (name: string, description: string, schema: JsonSchema, more: JsonSchema = {}): JsonSchema => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
});

const words = (known: readonly string[]): JsonSchema => ({ type: 'array', items: { type: 'string', enum: known } });
const WITH_COMMAS: JsonSchema = { style: 'form', explode: false };

/** `fields` and `include`, if the rows support them. */
export function rowParameters({ fields, includes }: RowFields): JsonSchema[] {
  if (fields.length === 0) return [];
  const all = [...fields, ...includes];
  const include = parameter('include', 'Related objects to show, separated by commas.', words(includes), WITH_COMMAS);
  return [
    parameter('fields', 'Fields to show, separated by commas. Default: all.', words(all), WITH_COMMAS),
    ...(includes.length > 0 ? [include] : []),
  ];
}

/** The parameters of every list, with the sort keys and filters of this one. */
export function listParameters(
  { filters, sorts }: AnyListFields,
  schema: GraphQLSchema,
  components: Components,
): JsonSchema[] {
  const shared = (name: string, description: string, of: JsonSchema): JsonSchema =>
    components.add('parameters', name, parameter(name, description, of));
  const keys = Object.keys(sorts).flatMap(key => [key, `-${key}`]);
  const sort = parameter(
    'sort',
    'Sort keys in order of precedence; a leading minus sorts in descending order.',
    words(keys),
    WITH_COMMAS,
  );
  return [
    shared('page', 'Number of the page, starting at 1.', { type: 'integer', minimum: 1, default: 1 }),
    shared('per_page', 'Number of rows in a page.', {
      type: 'integer',
      minimum: 1,
      maximum: MAX_PAGE_SIZE,
      default: DEFAULT_PER_PAGE,
    }),
    ...(keys.length > 0 ? [sort] : []),
    shared('search', 'Shows only rows that contain this text.', { type: 'string' }),
    shared('q', 'Alias of `search`.', { type: 'string' }),
    ...Object.entries(filters).map(([field, [, kind]]) =>
      parameter(
        `filter[${field}]`,
        `By \`${field}\`: \`filter[${field}]=…\`, or with an operator \`filter[${field}][gte]=…\`. All conditions must hold.`,
        comparisonOf(kind, schema, components),
        // Otherwise Swagger UI sends an example that it makes up.
        { style: 'deepObject', explode: true, example: {} },
      ),
    ),
  ];
}

const COMPARISONS = {
  text: { name: 'TextComparison', filter: 'StringFilter', value: { type: 'string' } },
  word: { name: 'TextComparison', filter: 'StringFilter', value: { type: 'string' } },
  id: { name: 'IdComparison', filter: 'IDFilter', value: { type: 'integer', format: 'int64' } },
  time: {
    name: 'TimeComparison',
    filter: 'DateTimeFilter',
    value: { type: 'string', description: 'A date, or a date and time in ISO 8601.' },
  },
  flag: { name: 'FlagComparison', filter: 'BooleanFilter', value: { enum: [true, false, 1, 0] } },
} as const;

/** The comparisons of a kind are components; those over a list of words belong to one filter. */
function comparisonOf(kind: FilterKind, schema: GraphQLSchema, components: Components): JsonSchema {
  if (typeof kind === 'string') {
    const { name, filter, value } = COMPARISONS[kind];
    return components.add('schemas', name, comparison(kind, filter, value, schema));
  }
  return comparison(kind, 'StringFilter', { type: 'string', enum: Object.keys(kind) }, schema);
}

/** The operators, with their descriptions in the GraphQL filter. */
function comparison(kind: FilterKind, filter: string, value: JsonSchema, schema: GraphQLSchema): JsonSchema {
  const input = schema.getType(filter);
  if (!isInputObjectType(input)) throw new Error(`There is no ${filter}.`);
  const fields = input.getFields();
  const operators = operatorsOf(kind).map(([word, name]) => {
    const description = `${fields[name]?.description ?? ''}${isSeveral(name) ? ' Separated by commas.' : ''}`;
    const whole = name === 'eq' || name === 'ne' || typeof kind === 'string';
    const of = name === 'isNull' ? { type: 'boolean' } : isSeveral(name) || !whole ? { type: 'string' } : value;
    return [word, { ...of, description }] as const;
  });
  return { type: 'object', properties: Object.fromEntries(operators), additionalProperties: false };
}

const isSeveral = (name: string): boolean => name === 'in' || name === 'notIn' || name === 'between';
