import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kind, type OperationDefinitionNode, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../src/app/schema.ts';
import { HELLO_WORLD, type TemplateSeed } from '../src/emulator/template-store.ts';
import { startHooks } from './features/webhooks/setup.ts';
import { payloadOf } from './support/answers.ts';
import type { TestGateway } from './support/gateway.ts';

/** Every block of the documentation runs as printed. */

interface Block {
  readonly file: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Of a GraphQL block: the variables in the JSON block right behind it. */
  readonly variables: object;
}

const FILES = [
  'README.md',
  ...['docs', 'docs/reference'].flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('.md'))
      .map(name => `${folder}/${name}`),
  ),
];

function blocksOf(file: string): Block[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```\n(?:```json\n([\s\S]*?)^```)?/gm)].map(match => {
    const [, language = '', body = '', json] = match;
    const isOfGraphql = language === 'graphql' && json !== undefined;
    return {
      file,
      line: text.slice(0, match.index).split('\n').length,
      language,
      text: body,
      variables: isOfGraphql ? (JSON.parse(json) as object) : {},
    };
  });
}

const blocks = FILES.flatMap(blocksOf);
const named = (of: readonly Block[]) => of.map(block => [`${block.file}:${block.line}`, block] as const);
const graphql = blocks.filter(({ language }) => language === 'graphql');

const operationsOf = (text: string): OperationDefinitionNode[] =>
  parse(text).definitions.filter(node => node.kind === Kind.OPERATION_DEFINITION);

/** The templates of the demo that the examples name. */
const TEMPLATES: readonly TemplateSeed[] = [
  {
    name: 'order_shipped',
    language: 'en_US',
    category: 'UTILITY',
    components: [
      { type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Track it', url: 'https://shop.example/orders/{{1}}' }] },
    ],
  },
  {
    name: 'login_code',
    language: 'en',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', text: '*{{1}}* is your verification code.' },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
    ],
  },
];

let gateway: TestGateway;
/** Of the examples of the emulator, which break its network, and let time pass on it. */
let examples: TestGateway;
beforeAll(async () => {
  examples = await startHooks({ templates: [HELLO_WORLD] });
  // All examples write to one person, who gets a message every six seconds at the most.
  gateway = await startHooks({ templates: TEMPLATES, env: { PARLEY_ACCEPTANCE_TIMEOUT_MS: '100' } });
  await gateway.rest('POST', '/templates/sync');
  // A reader who begins with another page than the README has a contact without a name.
  await gateway.rest('POST', '/contacts', { phone: '+14155550123' });
});
afterAll(async () => {
  await Promise.all([gateway.stop(), examples.stop()]);
});

describe('a GraphQL block', () => {
  test.each(named(graphql))('%s is one operation of the schema', (_name, { text }) => {
    expect(operationsOf(text)).toHaveLength(1);
    expect(validate(schema, parse(text)).map(({ message }) => message)).toEqual([]);
  });

  const asked = graphql.filter(({ text }) => operationsOf(text).every(({ operation }) => operation !== 'subscription'));
  test.each(named(asked))(
    '%s is executed: what it names may not exist, but it is no bad request',
    async (_name, block) => {
      const { eventCursor: after } = (await gateway.graphql('{ eventCursor }')).data;
      const given = placeholders(block.text);
      const { data, errors = [] } = await gateway.graphql(block.text, {
        ...given,
        ...('after' in given && { after }),
        ...block.variables,
      });
      const codes = errors.map(({ extensions }) => extensions.code);
      expect(codes.filter(code => !REFUSALS.has(code))).toEqual([]);
      expect(JSON.stringify(data)).not.toContain('UNKNOWN_MERGE_FIELD');
    },
  );
});

/** What a gateway without the objects of an example may say. */
const REFUSALS: ReadonlySet<string> = new Set(['NOT_FOUND', 'CONFLICT']);

/** A value for each variable that has to be given, where no JSON block says one. */
function placeholders(text: string): Record<string, unknown> {
  const definitions = operationsOf(text).flatMap(({ variableDefinitions = [] }) => variableDefinitions);
  const values = definitions.flatMap(({ variable, type }) => {
    if (type.kind !== Kind.NON_NULL_TYPE) return [];
    const { type: given } = type;
    const value = given.kind === Kind.LIST_TYPE ? ['{ viewer { tokenName } }'] : dateOrId(given.name.value);
    return [[variable.name.value, value] as const];
  });
  return Object.fromEntries(values);
}

const dateOrId = (type: string): string => (type === 'DateTime' ? '2026-01-31' : '1');

test.each(named(blocks.filter(({ language }) => language === 'json')))(
  '%s is JSON, or one value a line',
  (_name, { text }) => {
    expect(isJson(text) || text.trim().split('\n').every(isJson)).toBe(true);
  },
);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What the blocks name and the reader has: the answers of earlier calls, and a file. */
const VARIABLES = [
  'TOKEN',
  'UPLOAD_URL',
  'CHAT_MESSAGE_ID',
  'ETAG',
  'KEY',
  'SECRET',
  'E',
  'WAMID',
  'WEBHOOK_ID',
] as const;

/** A folder with the file of the examples, and the values of the variables. */
async function surroundings(): Promise<{ cwd: string; env: Record<(typeof VARIABLES)[number], string> }> {
  const cwd = await mkdtemp(join(tmpdir(), 'parley-docs-'));
  await writeFile(join(cwd, 'invoice.pdf'), '%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n');
  const upload = await gateway.mutate('createMediaUpload', { filename: 'invoice.pdf' }, 'uploadUrl');
  const form = new FormData();
  for (const [name, value] of Object.entries({ phone: '+14155550123', media_type: 'document' })) form.set(name, value);
  form.set('media_file', new File(['%PDF-1.4\n%%EOF\n'], 'invoice.pdf', { type: 'application/pdf' }));
  const shop = await gateway.mutate(
    'createIntegration',
    { name: 'Own', kind: 'GENERIC' },
    'integration { path } secret',
  );
  const { integration, secret } = payloadOf(shop);
  const headers = { authorization: `Bearer ${gateway.tenant.token}` };
  const sent = await fetch(`${gateway.url}/api/v2/messages/media`, { method: 'POST', headers, body: form });
  const { data } = (await sent.json()) as { readonly data: { readonly chat_message_id: string } };
  return {
    cwd,
    env: {
      TOKEN: gateway.tenant.token,
      UPLOAD_URL: payloadOf(upload).uploadUrl,
      CHAT_MESSAGE_ID: data.chat_message_id,
      ETAG: '*',
      KEY: String(integration.path).split('/').at(-1) ?? '',
      SECRET: secret,
      E: `${examples.emulator.url}/_emulator`,
      WEBHOOK_ID: '1',
      WAMID: examples.emulator.inbound({ from: '+14155550123', text: 'Hello' }),
    },
  };
}

let around: Awaited<ReturnType<typeof surroundings>>;
beforeAll(async () => {
  around = await surroundings();
});
afterAll(() => rm(around.cwd, { recursive: true }));

/** The commands of a shell block that call this gateway, without those for which something must be filled in. */
const callsOf = ({ text }: Block): string[] =>
  text
    .replaceAll('\\\n', ' ')
    .split(/\n(?=curl |#|export |node |$)/)
    .filter(command => /^curl [\s\S]*(?:(?:localhost|127\.0\.0\.1):40[01]0|\$E\/)/.test(command))
    .filter(command => !/…'|…"|<\w+>/.test(command))
    .filter(command => [...command.matchAll(/\$(\w*)/g)].every(([, name]) => VARIABLES.some(known => known === name)));

const calls = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(block =>
    callsOf(block).map((command, index) => [`${block.file}:${block.line} (${index})`, command] as const),
  );

test.each(calls)('the call in %s succeeds, or names what there is not', async (_name, command) => {
  const own = command
    .replaceAll(/(?:http:\/\/)?(?:localhost|127\.0\.0\.1):4000/g, gateway.url)
    .replaceAll('http://127.0.0.1:4010', gateway.emulator.url)
    .replace('/v1/demo/', `/v1/${gateway.tenant.slug}/`);
  const { stdout } = await promisify(execFile)('sh', ['-c', own.replace(/^curl/, `curl -w '\\n%{http_code}'`)], {
    cwd: around.cwd,
    env: { ...process.env, ...around.env },
  });
  const status = Number(stdout.trim().split('\n').at(-1));
  expect([200, 201, 202, 204, 404], stdout).toContain(status);
  if (command.includes('/_emulator') || command.includes('$E/')) expect(stdout).not.toContain('"error"');
  if (/\/graphql\b/.test(own))
    expect(stdout).not.toMatch(/GRAPHQL_VALIDATION_FAILED|GRAPHQL_PARSE_FAILED|BAD_USER_INPUT/);
});
