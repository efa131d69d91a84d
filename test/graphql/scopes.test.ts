import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLField,
  isInterfaceType,
  isObjectType,
  type OperationTypeNode,
  valueFromASTUntyped,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { SCOPES, scopeWord } from '../../src/core/scopes.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { documentOf, leastVariables, ROOT_FIELDS, type RootField } from './execution/operations.ts';

/** Root fields for every valid token. A field that is neither here nor guarded fails the first test. */
const OPEN = [
  'query viewer',
  'query node',
  'query nodes',
  'query countries',
  'query eventCursor',
  'mutation revokeOwnSession',
];

/** Additionally require the scopes of the requested data; see test/features/events/filter.test.ts and contacts/exports/exports.test.ts. */
const BY_TYPE = ['query events', 'mutation createExport'];

/** What `schema.graphql` says: alternatives, each a list of scopes that are all required. */
const printed = buildSchema(readFileSync('schema.graphql', 'utf8'));

/** The scopes by their names in the enum Scope. */
const BY_WORD = new Map<string, string>(SCOPES.map(scope => [scopeWord(scope), scope]));

type Alternatives = readonly (readonly string[])[];

function scopesOf({ astNode }: GraphQLField<unknown, unknown>): Alternatives {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'requiresScopes');
  const value = directive?.arguments?.[0]?.value;
  const alternatives = value ? (valueFromASTUntyped(value) as readonly (readonly string[])[]) : [];
  return alternatives.map(all => all.map(word => BY_WORD.get(word) ?? word));
}

const rootOf = ({ operation, name }: RootField): GraphQLField<unknown, unknown> => {
  const field = printed.getRootType(operation as OperationTypeNode)?.getFields()[name];
  if (!field) throw new Error(`schema.graphql has no ${operation} ${name}.`);
  return field;
};

const nameOf = ({ operation, name }: RootField): string => `${operation} ${name}`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const run = (field: RootField, token: string) =>
  gateway.graphql(documentOf(field), leastVariables(field, '999999999'), token);

test('every root field requires a scope, or is listed as public', () =>
  expect(
    ROOT_FIELDS.filter(field => scopesOf(rootOf(field)).length === 0)
      .map(nameOf)
      .sort(),
  ).toEqual([...OPEN].sort()));

test('schema.graphql prints the enforced scopes of every field', () => {
  const differing = Object.values(schema.getTypeMap()).flatMap(type => {
    const shown = printed.getType(type.name);
    if (!(isObjectType(type) || isInterfaceType(type)) || !(isObjectType(shown) || isInterfaceType(shown))) return [];
    return Object.values(type.getFields())
      .filter(field => {
        const { scope, anyScope } = (field.extensions['pothosOptions'] as Declared | undefined)?.authScopes ?? {};
        const declared = anyScope ? anyScope.map(one => [one]) : scope === undefined ? [] : [[scope].flat()];
        return JSON.stringify(declared) !== JSON.stringify(scopesOf(shown.getFields()[field.name] as never));
      })
      .map(field => `${type.name}.${field.name}`);
  });
  expect(differing).toEqual([]);
});

interface Declared {
  readonly authScopes?: { readonly scope?: string | readonly string[]; readonly anyScope?: readonly string[] };
}

test('every root field is UNAUTHORIZED without a token', async () => {
  // Past HTTP, where calls without a token are counted: 60 a minute from one address.
  const { kernel } = gateway.gateway.server;
  for (const field of ROOT_FIELDS) {
    const { data, errors } = await kernel.run(
      prepared(field),
      leastVariables(field, '1'),
      kernel.createContext({ principal: undefined, requestId: 'none' }),
    );
    expect(
      errors?.map(({ extensions }) => extensions['code']),
      nameOf(field),
    ).toEqual(['UNAUTHORIZED']);
    expect(
      Object.values(data ?? {}).filter(value => value !== null),
      nameOf(field),
    ).toEqual([]);
  }
});

function prepared(field: RootField) {
  const found = gateway.gateway.server.kernel.prepare(documentOf(field), undefined);
  if (!('operation' in found)) throw new Error(found.errors[0]?.message);
  return found.operation;
}

const refusedWith = async (field: RootField, scopes: readonly string[]): Promise<readonly string[]> => {
  const { errors } = await run(field, await gateway.addToken(gateway.tenant, { scopes: [...scopes] }));
  return errors?.map(({ extensions }) => extensions.code) ?? [];
};

describe('a field is refused with all scopes but those printed, and allowed with only those', () => {
  test.each(ROOT_FIELDS.map(field => [nameOf(field), field] as const))('%s', async (name, field) => {
    const alternatives = scopesOf(rootOf(field));
    if (alternatives.length === 0) {
      expect(['', 'NOT_FOUND', 'UNAUTHORIZED']).toContain((await refusedWith(field, ['bots:write'])).join());
      return;
    }
    // One scope of each alternative is missing; of the only alternative each of its scopes in turn.
    const lacking = alternatives.length === 1 ? (alternatives[0] ?? []).map(one => [one]) : [alternatives.flat()];
    for (const missing of lacking)
      expect(
        await refusedWith(
          field,
          SCOPES.filter(scope => !missing.includes(scope)),
        ),
      ).toEqual(['INSUFFICIENT_SCOPE']);
    for (const alternative of BY_TYPE.includes(name) ? [SCOPES] : alternatives)
      expect(await refusedWith(field, alternative)).not.toContain('INSUFFICIENT_SCOPE');
  });
});
