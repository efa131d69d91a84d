import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';

export type RootType = 'query' | 'mutation' | 'subscription';
type Field = GraphQLField<unknown, unknown>;

/** A document with the required arguments of a field, and a few fields of its result. */
export interface Example {
  readonly document: string;
  /** Undefined if the document has none, or only a cursor, which is different in each gateway. */
  readonly variables: object | undefined;
}

/** Sample values by input name. No object has these ids, so that examples can be run safely. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  address: '12 Market Street',
  body: 'Call back on Monday.',
  code: '407755',
  color: '#2563EB',
  components: [{ type: 'BODY', text: 'Hello {{1}}', example: { body_text: [['Ana']] } }],
  content: { text: { body: 'Hello @{contact_first_name|there}' } },
  documents: ['{ viewer { tokenName } }'],
  email: 'ana@example.com',
  evidence: 'Form of 31 January',
  events: ['message.*'],
  file: { link: 'https://shop.example/photo.jpg' },
  filename: 'photo.jpg',
  firstName: 'Ana',
  id: '4711',
  ids: ['4711'],
  language: 'en_US',
  name: 'example',
  phone: '+14155550123',
  purpose: 'login',
  secret: 'correct-horse-battery',
  shortcut: 'hello',
  text: 'Hello',
  timeZone: 'Europe/Berlin',
  title: 'Greeting',
  to: { phone: '+14155550123' },
  url: 'https://shop.example/hooks',
};

const SCALARS: Readonly<Record<string, unknown>> = {
  Boolean: true,
  DateTime: '2026-01-31T08:00:00Z',
  EventPattern: 'message.*',
  Float: 1,
  ID: '4711',
  Int: 1,
  JSON: {},
};

export function exampleOf(operation: RootType, field: Field): Example {
  const result = getNamedType(field.type);
  const args = field.args.filter(isRequiredArgument);
  const isPaged = field.args.some(({ name }) => name === 'first') && result.name.endsWith('Connection');
  const declared = args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const given = [...args.map(({ name }) => `${name}: $${name}`), ...(isPaged ? ['first: 10'] : [])].join(', ');
  const variables = Object.fromEntries(
    args.filter(({ name }) => name !== 'after').map(argument => [argument.name, sampleOf(argument)]),
  );
  const head = operation === 'query' && !declared ? '' : `${operation}${declared && ` (${declared})`} `;
  const call = `${field.name}${given && `(${given})`}`;
  const selection = selectionOf(result);
  return {
    document: `${head}{\n  ${call}${selection && ` ${selection}`}\n}`,
    variables: Object.keys(variables).length > 0 ? variables : undefined,
  };
}

const isGuarded = ({ extensions }: Field): boolean =>
  Object.hasOwn((extensions['directives'] as object | undefined) ?? {}, 'requiresScopes');

/** How many fields of an object an example shows. */
const SHOWN = 4;

function selectionOf(type: GraphQLNamedType): string {
  if (!isObjectType(type) && !isInterfaceType(type)) return isLeafType(type) ? '' : '{ __typename }';
  const fields = Object.values(type.getFields()).filter(field => !field.args.some(isRequiredArgument));
  const nodes = fields.find(({ name }) => name === 'nodes');
  if (nodes && type.name.endsWith('Connection'))
    return `{ nodes ${selectionOf(getNamedType(nodes.type))} pageInfo { hasNextPage endCursor } }`;
  if (fields.some(({ name }) => name === 'userErrors')) return payloadSelection(fields);
  const leaves = fields.filter(
    field => isLeafType(getNamedType(field.type)) && !isGuarded(field) && !isForeign(field) && !isKey(field),
  );
  const id = fields.some(({ name }) => name === 'id') ? ['id'] : [];
  return `{ ${[...id, ...leaves.map(({ name }) => name)].slice(0, SHOWN).join(' ') || '__typename'} }`;
}

const isKey = ({ name }: Field): boolean => name === 'id' || name === 'databaseId';
const isForeign = ({ type }: Field): boolean => getNamedType(type).name === 'JSON';

function payloadSelection(fields: readonly Field[]): string {
  const shown = fields
    .filter(field => field.name !== 'userErrors' && !isGuarded(field) && !isForeign(field))
    .map(({ name, type }) => `${name} ${selectionOf(getNamedType(type))}`.trim());
  return `{ ${shown.join(' ')} userErrors { code message path } }`;
}

function sampleOf({ name, type }: GraphQLArgument | GraphQLInputField): unknown {
  const sample = SAMPLES[name];
  return sample !== undefined && isListType(nullable(type)) === Array.isArray(sample) && fits(type, sample)
    ? sample
    : valueOfType(type);
}

/** Whether a sample is of the kind that the type has: not text for an object, nor an object for text. */
function fits(type: GraphQLInputType, sample: unknown): boolean {
  const named = getNamedType(type);
  if (isEnumType(named)) return false;
  return typeof sample === 'string' ? isLeafType(named) : Array.isArray(sample) || isInputObjectType(named);
}

const nullable = (type: GraphQLInputType): GraphQLInputType => (isNonNullType(type) ? type.ofType : type);

function valueOfType(type: GraphQLInputType): unknown {
  const given = nullable(type);
  if (isListType(given)) return [valueOfType(given.ofType)];
  if (isInputObjectType(given)) return objectOf(given);
  const named = getNamedType(given);
  return isEnumType(named) ? named.getValues()[0]?.name : (SCALARS[named.name] ?? 'example');
}

/** The required fields and, if there are fewer than two, the first optional field with a sample value. */
function objectOf(type: GraphQLInputObjectType): object {
  const fields = Object.values(type.getFields());
  if (type.isOneOf) return Object.fromEntries(fields.slice(0, 1).map(field => [field.name, sampleOf(field)]));
  const required = fields.filter(isRequiredInputField);
  const optional = fields.filter(field => !required.includes(field) && typeof SAMPLES[field.name] === 'string');
  const shown = [...required, ...optional.slice(0, required.length < 2 ? 1 : 0)];
  return Object.fromEntries(shown.map(field => [field.name, sampleOf(field)]));
}
