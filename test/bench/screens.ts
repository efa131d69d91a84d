/** Statements and times of a front end's screens on a large account: `node test/bench/screens.ts --help`. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type GraphQLError, parse, print as printNode } from 'graphql';
import pg from 'pg';
import { schema } from '../../src/app/schema.ts';
import { serve } from '../../src/app/serve.ts';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import { loadConfig } from '../../src/config.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { createLog } from '../../src/platform/log.ts';
import { addTenant, addToken, type FilledTenant } from './fill.ts';
import { fillAccount } from './fill-account.ts';
import { SECRET_KEY } from './gateway.ts';
import { printLine, printProgress } from './output.ts';
import { table } from './report.ts';

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'parley_screens' },
    contacts: { type: 'string', default: '1000000' },
    conversations: { type: 'string', default: '200000' },
    messages: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '20' },
    statements: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `Runs the screens of an inbox on a large account, and prints the statements, the time and the cost of each.

  DATABASE_URL          the server; the database is created there, filled once, and kept for the next run
  --database NAME       its name (parley_screens)
  --contacts N --conversations N --messages N   its size, when it is created (1,000,000, 200,000, 10,000,000)
  --rounds N            requests of each screen (20); the time is their median
  --statements          prints the statements too`;

async function main(): Promise<void> {
  const server = process.env['DATABASE_URL'];
  if (values.help || server === undefined) return printLine(HELP);
  const address = new URL(server);
  address.pathname = `/${values.database}`;
  await createOnce(server, values.database);
  await migrateDatabase(address.href);
  const pool = new pg.Pool({ connectionString: address.href, max: 3 });
  const tenant = (await filledTenant(pool)) ?? (await fill(pool, address.href));
  await resealFor(pool);
  const token = await addToken(pool, tenant);
  const statements: string[] = [];
  const gateway = await serve({
    config: {
      ...loadConfig({
        PORT: '0',
        DATABASE_URL: address.href,
        PARLEY_SECRET_KEY: SECRET_KEY,
        PARLEY_MEDIA_DIR: `.parley/${values.database}`,
      }),
      databaseUrl: address.href,
      secretKey: Buffer.from(SECRET_KEY, 'base64'),
    } as never,
    schema,
    role: 'gateway',
    log: createLog('silent'),
    onStatement: text => void statements.push(text),
  });
  try {
    const rows: string[][] = [];
    for (const { name, text, variables } of [...(await screens(tenant)), ...CONTACTS])
      rows.push(await measure(gateway.server.url, token, name, text, variables, statements));
    table(['screen', 'statements', 'median ms', 'slowest ms', 'kB', 'points'], rows);
  } finally {
    await gateway.stop();
    await pool.end();
  }
}

/** Every run has a key of its own. */
async function resealFor(pool: pg.Pool): Promise<void> {
  const sealed = createSecretBox({ current: Buffer.from(SECRET_KEY, 'base64') }).seal('bench');
  await pool.query('update channels set access_token_sealed = $1, app_secret_sealed = $1', [sealed]);
  await pool.query('update webhook_endpoints set secret = $1', [sealed]);
  await pool.query('update deployment set digest_key_sealed = null');
}

async function createOnce(server: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

/** The account that an earlier run filled to the end. */
async function filledTenant(pool: pg.Pool): Promise<FilledTenant | undefined> {
  const { rows } = await pool.query<Record<string, string>>(
    `select t.tenant_id as id, (select min(id) from contacts where tenant_id = t.tenant_id) as contact,
            (select min(id) from conversations where tenant_id = t.tenant_id) as conversation,
            (select min(id) from channels where tenant_id = t.tenant_id) as channel
     from tenants t where slug = 'screens' and name like '% (filled)'`,
  );
  const [row] = rows;
  if (!row) return undefined;
  return {
    id: Number(row['id']),
    slug: 'screens',
    channelId: Number(row['channel']),
    firstContactId: Number(row['contact']),
    firstConversationId: Number(row['conversation']),
    contacts: Number(values.contacts),
    conversations: Number(values.conversations),
  };
}

async function fill(pool: pg.Pool, address: string): Promise<FilledTenant> {
  printProgress('  contacts and conversations …');
  const tenant = await addTenant(pool, 'screens', Number(values.contacts), Number(values.conversations));
  await fillAccount(address, tenant, Number(values.messages));
  await pool.query(`update tenants set name = name || ' (filled)' where slug = 'screens'`);
  return tenant;
}

interface Screen {
  readonly name: string;
  readonly text: string;
  readonly variables: object;
}

async function screens(tenant: FilledTenant): Promise<Screen[]> {
  const document = parse(await readFile(new URL('screens.graphql', import.meta.url), 'utf8'));
  const since = new Date(Date.now() - 7 * 86_400_000).toISOString();
  const conversation = tenant.firstConversationId + 4_321;
  const variables: Record<string, object> = {
    Inbox: { f: { status: { eq: 'OPEN' } } },
    ChatThread: { id: String(conversation) },
    ContactCard: { id: String(tenant.firstContactId + 4_321) },
    CampaignScreen: { id: '1', since },
    Failures: { since },
    WebhookLog: {},
  };
  return document.definitions.map(node => {
    const name = 'name' in node ? (node.name?.value ?? '') : '';
    return { name, text: printNode(node), variables: variables[name] ?? {} };
  });
}

/** Lists of contacts with their count, each once with a filter that finds few and once with one that finds very many. */
const CONTACTS: readonly Screen[] = [
  ['search of a name without its diacritics and a company', { search: 'garcia zoe 4711' }],
  ['search of a common name', { search: 'müller' }],
  ['search of digits within a phone number', { search: '0123456' }],
  ['search of a national phone number', { search: '+49 15110 123456' }],
  ['company like, rare', { filter: { company: { like: 'company 4711' } } }],
  ['company like, common', { filter: { company: { like: 'company' } } }],
  ['consent to marketing, common', { filter: { consent: { category: 'MARKETING', eq: 'OPTED_IN' } } }],
  ['no consent to marketing, rare', { filter: { consent: { category: 'MARKETING', eq: 'OPTED_OUT' } } }],
  ['last message in an hour', { filter: { lastMessageAt: { gte: new Date(Date.now() - 3_600_000).toISOString() } } }],
].map(([name, variables]) => ({
  name: `contacts: ${name as string}`,
  text: `query ($search: String, $filter: ContactFilter) { contacts(first: 50, search: $search, filter: $filter) {
    totalCount edges { node { id displayName phone company status { name } groups { name } } } pageInfo { endCursor } } }`,
  variables: variables as object,
}));

async function measure(
  url: string,
  token: string,
  name: string,
  query: string,
  variables: object,
  statements: string[],
): Promise<string[]> {
  const times: number[] = [];
  let body = '';
  for (let round = 0; round < Number(values.rounds); round += 1) {
    statements.length = 0;
    const start = performance.now();
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'accept-encoding': 'identity' },
      body: JSON.stringify({ query, variables }),
    });
    body = await response.text();
    times.push(performance.now() - start);
  }
  const answer = JSON.parse(body) as {
    errors?: readonly GraphQLError[];
    extensions?: { cost?: { requested?: number } };
  };
  if (answer.errors) {
    process.exitCode = 1;
    return [name, 'refused', answer.errors[0]?.message ?? '', '', '', ''];
  }
  const asked = statements.filter(text => !/access_tokens|^\s*(begin|commit|set|listen|\/\* cross-tenant)/i.test(text));
  if (values.statements) for (const text of asked) printLine(`${name}: ${text.replace(/\s+/g, ' ')}`);
  const sorted = times.toSorted((one, other) => one - other);
  return [
    name,
    String(asked.length),
    (sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1),
    (sorted.at(-1) ?? 0).toFixed(1),
    (body.length / 1_000).toFixed(1),
    String(answer.extensions?.cost?.requested ?? ''),
  ];
}

await main();
