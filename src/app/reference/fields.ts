import {
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { type ErrorCode, isFieldCode } from '../../core/errors.ts';
import { measure } from '../../graphql/execution/limits.ts';
import type { Route } from '../../rest/runtime/route.ts';
import { operationOf } from '../../rest/runtime/sparse.ts';
import { exampleOf, type RootType } from './example.ts';

/** A field of Query, Mutation or Subscription. */
export interface RootField {
  readonly operation: RootType;
  readonly field: GraphQLField<unknown, unknown>;
}

export function rootFields(schema: GraphQLSchema): RootField[] {
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  return (['query', 'mutation', 'subscription'] as const).flatMap(operation =>
    Object.values(roots[operation]?.getFields() ?? {}).map(field => ({ operation, field })),
  );
}

/** Alternatives, each a list of scopes that are all required. */
function scopesOf({ field }: RootField): readonly (readonly string[])[] {
  const directives = field.extensions['directives'] as
    | { readonly requiresScopes?: { readonly scopes: readonly (readonly string[])[] } }
    | undefined;
  return directives?.requiresScopes?.scopes ?? [];
}

/** The page of the reference that a field belongs to: the resource of its first scope. */
export const partOf = (root: RootField): string => scopesOf(root)[0]?.[0]?.split(':')[0] ?? 'viewer';

/** The description of one field, as Markdown. @param codes of errors that REST declares for the same field */
export function describeField(schema: GraphQLSchema, root: RootField, codes: ReadonlySet<ErrorCode>): string {
  const { operation, field } = root;
  const { document, variables } = exampleOf(operation, field);
  const scopes = scopesOf(root).map(all => all.map(scope => `\`${scope}\``).join(' and '));
  const points = pointsOf(schema, document);
  const facts = [
    `${operation} → \`${field.type}\``,
    scopes.length > 0 ? `scope ${scopes.join(' or ')}` : 'any token',
    `${points} ${points === 1 ? 'point' : 'points'}`,
  ];
  return [
    `## \`${field.name}\``,
    (field.description ?? '').replace(/\s*Requires the scope [^.]*\.$/, ''),
    facts.join(' · '),
    ...argumentsOf(field),
    ...payloadOf(field),
    ...errorsOf(root, codes),
    `\`\`\`graphql\n${document}\n\`\`\`${variables ? `\n\`\`\`json\n${JSON.stringify(variables)}\n\`\`\`` : ''}`,
  ]
    .filter(text => text !== '')
    .join('\n\n');
}

/** The points of one field. Not `pointsOf` of an operation, which is at least 1 even if its only field costs none. */
function pointsOf(schema: GraphQLSchema, text: string): number {
  const document = parse(text);
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return measure(schema, document, operation as OperationDefinitionNode).calls;
}

interface Typed {
  readonly name: string;
  readonly type: unknown;
  readonly defaultValue?: unknown;
}

const listed = (fields: readonly Typed[]): string =>
  fields
    .map(({ name, type, defaultValue }) => {
      const otherwise = defaultValue === undefined ? '' : ` = ${JSON.stringify(defaultValue)}`;
      return `\`${name}: ${type}${otherwise}\``;
    })
    .join(', ');

function inputOf(field: RootField['field']): readonly GraphQLInputField[] {
  const type = field.args.length === 1 && field.args[0]?.name === 'input' && getNamedType(field.args[0].type);
  return isInputObjectType(type) ? Object.values(type.getFields()) : [];
}

function argumentsOf(field: RootField['field']): string[] {
  const input = inputOf(field);
  if (input.length > 0) return [`Input: ${listed(input)}`];
  return field.args.length > 0 ? [`Arguments: ${listed(field.args)}`] : [];
}

function payloadOf({ type }: RootField['field']): string[] {
  const payload = getNamedType(type);
  return isObjectType(payload) && 'userErrors' in payload.getFields()
    ? [`Payload: ${listed(Object.values(payload.getFields()))}`]
    : [];
}

/** Error codes of a field: from its shape, and from the REST routes that call it. */
function errorsOf({ operation, field }: RootField, codes: ReadonlySet<ErrorCode>): string[] {
  if (operation !== 'mutation') return [];
  const input = inputOf(field);
  if (input.length === 0) return [];
  const has = (name: string): boolean => input.some(one => one.name === name);
  const derived: (string | false)[] = [
    has('id') && 'NOT_FOUND',
    input.some(({ name, type }) => name !== 'id' && getNamedType(type).name === 'ID') && 'REFERENCE_NOT_FOUND',
    has('idempotencyKey') && 'IDEMPOTENCY_MISMATCH',
    has('idempotencyKey') && 'CONFLICT',
    ...codes,
  ];
  const all = [...new Set(derived.filter(code => code !== false))].sort();
  const refusalCodes = all.filter(code => !isFieldCode(code)).map(code => `\`${code}\``);
  const fieldCodes = all.filter(isFieldCode).map(code => `\`${code}\``);
  return [`User errors: ${['faults of fields', ...fieldCodes, ...refusalCodes].join(', ')}`];
}

/** Codes that routes declare, by the root field that they call. @param isUserError excludes codes that only REST has */
export function declaredCodes(
  routes: readonly Route[],
  isUserError: (code: ErrorCode) => boolean,
): ReadonlyMap<string, ReadonlySet<ErrorCode>> {
  const codes = new Map<string, Set<ErrorCode>>();
  for (const { documents, errors = [] } of routes)
    for (const document of documents) {
      const [first] = operationOf(document)?.selectionSet.selections ?? [];
      if (first?.kind !== Kind.FIELD) continue;
      const known = codes.get(first.name.value) ?? new Set();
      for (const code of errors.filter(isUserError)) known.add(code);
      codes.set(first.name.value, known);
    }
  return codes;
}
