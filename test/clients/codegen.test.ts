import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { preset } from '@graphql-codegen/client-preset';
import { codegen } from '@graphql-codegen/core';
import { buildSchema, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

/** graphql-codegen's client preset over the schema and the scalars that a gateway serves, as docs/front-ends.md says. */

let gateway: TestGateway;
let directory: string;
beforeAll(async () => {
  gateway = await startGateway();
  // Below the repository, so that the generated code finds its packages.
  await mkdir('node_modules/.cache', { recursive: true });
  directory = await mkdtemp('node_modules/.cache/codegen-');
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await gateway.stop();
});

const DOCUMENTS = {
  Create: `mutation Create($input: CreateContactGroupInput!) {
  createContactGroup(input: $input) { contactGroup { ...Row } userErrors { __typename code message path ... on LimitError { used maximum } } }
}`,
  Row: 'fragment Row on ContactGroup { id name createdAt contactsCount }',
  Groups:
    'query Groups($first: Int, $filter: ContactGroupFilter) { contactGroups(first: $first, filter: $filter) { totalCount edges { node { ...Row } } } }',
  Events:
    'subscription Events($after: String) { events(after: $after) { cursor type ... on MessageEvent { message { status content { __typename ... on TextContent { body } } } } } }',
} as const;

const served = async (path: string): Promise<string> => (await fetch(`${gateway.url}${path}`)).text();

async function generate(folder: string, config: object): Promise<void> {
  const sdl = await served('/schema.graphql');
  const scalars = JSON.parse(await served('/schema/scalars.json')) as object;
  const sections = await preset.buildGeneratesSection({
    baseOutputDir: `${join(directory, folder)}/`,
    schema: parse(sdl),
    schemaAst: buildSchema(sdl),
    documents: Object.entries(DOCUMENTS).map(([name, text]) => ({
      location: `${name}.graphql`,
      document: parse(text),
      rawSDL: text,
    })),
    config: { scalars, enumsAsTypes: true, useTypeImports: true, ...config },
    presetConfig: { fragmentMasking: false },
    plugins: [],
    pluginMap: {},
    pluginContext: {},
  } as never);
  for (const section of sections) {
    await mkdir(dirname(section.filename), { recursive: true });
    await writeFile(section.filename, await codegen(section));
  }
}

const COMPILER_OPTIONS = {
  target: 'es2024',
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: false,
  skipLibCheck: true,
  types: [],
};

/** What an app writes: it compiles only if data and variables have the types that the gateway has. */
const APP = `import type { CreateMutation, CreateMutationVariables, EventsSubscription, GroupsQuery } from './graphql.ts';
const input: CreateMutationVariables = { input: { name: 'VIP' } };
declare const created: CreateMutation;
const errors: readonly { readonly message: string }[] | undefined = created.createContactGroup?.userErrors;
declare const groups: GroupsQuery;
const total: number | undefined = groups.contactGroups?.totalCount;
const count: number | null | undefined = groups.contactGroups?.edges[0]?.node.contactsCount;
declare const { events }: EventsSubscription;
const body = 'message' in events && events.message?.content.__typename === 'TextContent' ? events.message.content.body : '';
const text: string = body;
// @ts-expect-error a name is text
const wrong: CreateMutationVariables = { input: { name: 1 } };
export { input, errors, total, count, text, wrong };
`;

test.each([
  ['documents', {}],
  ['text', { documentMode: 'string' }],
])('the client preset generates code of %s that compiles', async (folder, config) => {
  await generate(folder, config);
  const root = join(directory, folder);
  await writeFile(join(root, 'app.ts'), APP);
  await writeFile(
    join(root, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['graphql.ts', 'gql.ts', 'app.ts'] }),
  );
  const compiled = await promisify(execFile)('node_modules/.bin/tsc', ['-p', root]).catch(
    (error: { stdout: string }) => error,
  );
  expect(compiled.stdout).toBe('');
});

test('its documents run over the typed client', async () => {
  await generate('run', {});
  // Node strips no types below node_modules.
  const root = join(process.cwd(), directory, 'run');
  await writeFile(join(root, 'graphql.mjs'), stripTypeScriptTypes(await readFile(join(root, 'graphql.ts'), 'utf8')));
  const { CreateDocument, GroupsDocument } = await import(join(root, 'graphql.mjs'));
  const client = createClient({ url: gateway.url, token: gateway.tenant.token });
  const name = crypto.randomUUID();
  const { createContactGroup } = await client.mutate<CreateData, object>(CreateDocument, { input: { name } });
  expect(createContactGroup).toMatchObject({ contactGroup: { name, contactsCount: 0 }, userErrors: [] });
  const refused = await client.mutate<CreateData, object>(CreateDocument, { input: { name } });
  expect(refused.createContactGroup).toMatchObject({ contactGroup: null, userErrors: [{ code: 'TAKEN' }] });
  const listed = await client.query<object, object>(GroupsDocument, { filter: { name: { eq: name } } });
  expect(listed).toMatchObject({ contactGroups: { totalCount: 1, edges: [{ node: { name } }] } });
  await client.close();
});

interface CreateData {
  readonly createContactGroup: object;
}
