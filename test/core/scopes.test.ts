import { readFileSync } from 'node:fs';
import { type GraphQLField, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/app/schema.ts';
import { SCOPES } from '../../src/core/scopes.ts';
import { openApi } from '../rest/contract.ts';

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

const declared = ({ extensions }: GraphQLField<unknown, unknown>) =>
  ((extensions['pothosOptions'] ?? {}) as { authScopes?: { scope?: string | string[]; anyScope?: string[] } })
    .authScopes ?? {};

const also = (scopes: readonly string[], scope: string, word: string): string => {
  const others = scopes.filter(other => other !== scope);
  return others.length === 0 ? '' : ` (${word} ${others.map(other => `\`${other}\``).join(', ')})`;
};

/** The fields that a scope opens, root fields first: `createBot (and messages:send)`. */
function fieldsOf(scope: string): string[] {
  const found = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap(type =>
      Object.values(type.getFields()).flatMap(field => {
        const all = [declared(field).scope ?? []].flat();
        const any = declared(field).anyScope ?? [];
        if (!all.includes(scope) && !any.includes(scope)) return [];
        const isRoot = ROOTS.has(type.name);
        const name = isRoot ? field.name : `${type.name}.${field.name}`;
        return [{ isRoot, text: `\`${name}\`${also(all, scope, 'and')}${also(any, scope, 'or')}` }];
      }),
    );
  return [...found.filter(({ isRoot }) => isRoot), ...found.filter(({ isRoot }) => !isRoot)].map(({ text }) => text);
}

/** The documents, made once: each takes a fifth of a second, and every scope asks for both. */
const DOCUMENTS = { v1: openApi('v1'), v2: openApi('v2') };

/** The routes of REST that a scope opens, a path once: ``GET, POST `/contacts` ``. */
function routesOf(scope: string, version: 'v1' | 'v2'): string[] {
  return Object.entries(DOCUMENTS[version].paths).flatMap(([path, operations]) => {
    const methods = Object.entries(operations).flatMap(([method, operation]) => {
      const { security } = operation as unknown as { security: { bearer: string[] }[] };
      const scopes = security[0]?.bearer ?? [];
      return scopes.includes(scope) ? [method.toUpperCase() + also(scopes, scope, 'and')] : [];
    });
    return methods.length === 0 ? [] : [`${methods.join(', ')} \`${path}\``];
  });
}

const list = (items: readonly string[]): string => (items.length === 0 ? '–' : items.join(', '));

/** After a change of the schema or the routes: `npx vitest run test/core/scopes.test.ts -u`. */
test('docs/scopes.md lists the fields and routes of every scope', async () => {
  const rows = SCOPES.map(
    scope =>
      `| \`${scope}\` | ${list(fieldsOf(scope))} | ${list(routesOf(scope, 'v2'))} | ${list(routesOf(scope, 'v1'))} |`,
  );
  const lines = readFileSync('docs/scopes.md', 'utf8').split('\n');
  const start = lines.indexOf('| scope | GraphQL | REST version 2 | REST version 1 |') + 2;
  const text = [...lines.slice(0, start), ...rows, ...lines.slice(lines.indexOf('', start))].join('\n');
  await expect(text).toMatchFileSnapshot('../../docs/scopes.md');
});
