import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertEnumType } from 'graphql';
import { pino } from 'pino';
import { request } from 'undici';
import { schema } from '../../src/app/schema.ts';
import { type Gateway, type Role, serve } from '../../src/app/serve.ts';
import { emulatorRoutes } from '../../src/cli/emulator-routes.ts';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import { loadConfig } from '../../src/config.ts';
import { SCOPES } from '../../src/core/scopes.ts';
import { createDatabase } from '../../src/database/database.ts';
import { type Emulator, startEmulator } from '../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import type { TemplateSeed } from '../../src/emulator/template-store.ts';
import { connectChannel } from '../../src/features/channels/connect.ts';
import { createTenant } from '../../src/features/tenancy/tenants/create.ts';
import { createToken } from '../../src/features/tenancy/tokens/create.ts';
import { type Clock, systemClock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import type { ResolveName } from '../../src/platform/resolve-name.ts';
import type { Contract, Version } from '../rest/contract.ts';
import { withoutCost } from './answers.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { tenantFault, tenantFaults } from './statements.ts';

export interface TestTenant {
  readonly id: number;
  readonly slug: string;
  /** All scopes, 6,000 calls a minute. */
  readonly token: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
}

export interface GraphQLAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests check the data by assertions
  readonly data?: any;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly unknown[];
    readonly extensions: { readonly code: string; readonly details?: unknown };
  }[];
  readonly extensions?: Record<string, unknown>;
}

/** The version of a REST call; version 1 has the tenant in its path. */
export type RestBase = { readonly version: 'v2' } | { readonly version: 'v1'; readonly tenant: string };

export interface TestGateway {
  readonly url: string;
  readonly database: TestDatabase;
  readonly gateway: Gateway;
  readonly emulator: Emulator;
  /** The first tenant, with a channel. */
  readonly tenant: TestTenant;
  /** Lines of the log, parsed. */
  readonly logs: Record<string, unknown>[];
  /** PARLEY_SECRET_KEY, for commands that use the gateway's database. */
  readonly secretKey: string;
  /** Texts of all statements since the start; empty it to count. */
  readonly statements: string[];
  /** PARLEY_MEDIA_DIR. */
  readonly mediaDirectory: string;
  addTenant(options?: { plan?: string; windowPolicy?: 'network' | 'refuse'; channel?: boolean }): Promise<TestTenant>;
  addToken(
    tenant: TestTenant,
    options: { scopes?: string[]; callsPerMinute?: number; expiresAt?: string },
  ): Promise<string>;
  graphql(query: string, variables?: object, token?: string): Promise<GraphQLAnswer>;
  /** Runs one mutation: `mutate('createContact', { phone }, 'contact { id }')`. User errors are selected with it. */
  mutate(name: string, input: object, selection?: string, token?: string): Promise<GraphQLAnswer>;
  /** Calls `path` below /api/v2, or below /api/v1/{tenant} of the first tenant. Rejects if the answer does not match the OpenAPI document. */
  rest(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    base?: RestBase,
  ): Promise<Response>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly role?: Role;
  readonly clock?: Clock;
  /** Resolves the host names of webhook endpoints. */
  readonly resolveName?: ResolveName;
  readonly emulator?: Partial<EmulatorOptions>;
  /** Templates that the network has for the first tenant. */
  readonly templates?: readonly TemplateSeed[];
  readonly env?: Record<string, string>;
  /** GraphiQL with the token of a tenant named graphiql in its headers, as in development. */
  readonly graphiql?: boolean;
  /** Passes the phones of the dashboard on to the emulator, as in development. */
  readonly phones?: boolean;
  /** Runs over PgBouncer: the address of a database through it. */
  readonly pgbouncer?: (databaseUrl: string) => string;
}

const APP_SECRET = 'test-app-secret';
export const VERIFY_TOKEN = 'test-verify-token';
const wabaOf = (number: number): string => `${2_000 + number}`;

/** Starts a whole gateway at a free port, with its own database and an emulated network over HTTP. */
export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  // Counted here, so that the first tenant of every gateway has the same numbers: files of one worker share this module.
  let numbers = 0;
  const nextNumber = (): number => {
    numbers += 1;
    return numbers;
  };
  // Disposed of in reverse order by `stop`, or here if the start fails.
  await using started = new AsyncDisposableStack();
  const database = started.adopt(await createTestDatabase(), each => each.drop());
  const mediaDirectory = await mkdtemp(join(tmpdir(), 'parley-media-'));
  started.defer(() => rm(mediaDirectory, { recursive: true, force: true }));
  const statements: string[] = [];
  const logs: Record<string, unknown>[] = [];
  const first = nextNumber();
  const log = createLog('debug', { write: line => void logs.push(JSON.parse(line)) });
  const emulator = await startEmulator({
    appSecret: APP_SECRET,
    verifyToken: VERIFY_TOKEN,
    numbers: [],
    log: pino({ level: 'silent' }),
    ...(options.templates && { templates: options.templates.map(seed => ({ ...seed, wabaId: wabaOf(first) })) }),
    ...options.emulator,
    // With service windows as strict as the network's, every text to a new person would be accepted and fail a moment later: answers,
    // events and rows would depend on how soon the failure arrives.
    faults: { window: 'open', ...options.emulator?.faults },
  });
  started.defer(() => emulator.stop());
  const env = {
    PORT: '0',
    DATABASE_URL: database.url,
    PARLEY_SECRET_KEY: randomBytes(32).toString('base64'),
    PARLEY_NETWORK_URL: emulator.url,
    PARLEY_MEDIA_DIR: mediaDirectory,
    PARLEY_DATABASE_POOL: '6',
    PARLEY_DATABASE_READERS: '2',
    // On a loaded machine, dozens of concurrent requests may wait longer than five seconds for a connection, and calls that
    // take milliseconds may take a second.
    PARLEY_DATABASE_CONNECT_TIMEOUT_MS: '60000',
    PARLEY_DATABASE_STATEMENT_TIMEOUT_MS: '120000',
    // Without a worker no message is sent, so there is no outcome to wait for.
    PARLEY_ACCEPTANCE_TIMEOUT_MS: options.role === 'gateway' ? '100' : '60000',
    PARLEY_REDIS_TIMEOUT_MS: '20000',
    // Each slot of each queue queries the database now and then, and few tests have more than two lanes.
    PARLEY_LANES: '3',
    ...(options.pgbouncer && {
      DATABASE_URL: options.pgbouncer(database.url),
      PARLEY_PGBOUNCER: 'true',
      PARLEY_DIRECT_DATABASE_URL: database.url,
    }),
    ...options.env,
  };
  const config = loadConfig(env);
  const { databaseUrl, secretKey } = config;
  if (databaseUrl === undefined || secretKey === undefined) throw new Error('The test configuration is not complete.');
  if (config.pgbouncer) await migrateDatabase(databaseUrl, config);
  const gateway = await serve({
    config: {
      ...config,
      databaseUrl,
      secretKey,
      ...(options.graphiql && { graphiql: { token: await graphiqlToken(databaseUrl) } }),
    },
    schema,
    role: options.role ?? 'all',
    log,
    ...(options.clock && { clock: options.clock }),
    ...(options.phones && { addRoutes: emulatorRoutes(emulator.url) }),
    ...(options.resolveName && { resolveName: options.resolveName }),
    onStatement(text) {
      statements.push(text);
      const fault = tenantFault(text);
      if (fault !== undefined) tenantFaults.add(fault);
    },
  });
  started.defer(() => gateway.stop());
  const { url } = gateway.server;
  emulator.setWebhookUrl(`${url}/network/cloud-api/webhook`);
  const { db } = gateway.resources;

  async function addToken(
    tenant: TestTenant,
    { scopes = ['*'], callsPerMinute = 6_000, expiresAt }: Parameters<TestGateway['addToken']>[1],
  ): Promise<string> {
    const grant = { scopes: new Set<string>(SCOPES), callsPerMinute: 6_000, expiresAtMs: undefined };
    const request = { name: 'test', scopes, callsPerMinute, expiresAt };
    return (await createToken(db.write, tenant.id, request, grant, (options.clock ?? systemClock).now())).token;
  }

  async function addTenant(
    { plan = 'unlimited', windowPolicy = 'network', channel = true }: Parameters<TestGateway['addTenant']>[0] = {},
    number = nextNumber(),
  ): Promise<TestTenant> {
    const slug = `tenant-${number}`;
    const row = await db.transaction(trx => createTenant(trx, { slug, name: slug, plan, windowPolicy }));
    const [phoneNumberId, wabaId, accessToken] = [`${1_000 + number}`, wabaOf(number), `access-${number}`];
    const tenant = { id: row.tenant_id, slug, token: '', phoneNumberId, wabaId };
    if (channel) {
      const business = {
        phoneNumberId,
        wabaId,
        displayPhoneNumber: `+1 555 078 ${1_000 + number}`,
        verifiedName: slug,
        accessToken,
        messagesPerSecond: 1_000,
      };
      await fetch(`${emulator.url}/_emulator/numbers`, { method: 'POST', body: JSON.stringify(business) }).then(
        answer => answer.text(),
      );
      await connectChannel(gateway.resources, tenant.id, {
        ...business,
        name: slug,
        appSecret: APP_SECRET,
        verifyToken: VERIFY_TOKEN,
      });
    }
    return { ...tenant, token: await addToken(tenant, {}) };
  }

  const tenant = await addTenant({}, first);
  const running = started.move();

  return {
    url,
    database,
    gateway,
    emulator,
    secretKey: env.PARLEY_SECRET_KEY,
    tenant,
    logs,
    statements,
    mediaDirectory,
    addTenant: options => addTenant(options),
    addToken,
    graphql: (query, variables = {}, token = tenant.token) => post(url, query, variables, token),
    mutate: (name, input, selection = '', token = tenant.token) =>
      post(url, mutationOf(name, selection), { input }, token),
    async rest(method, path, body, headers = {}, base = { version: 'v2' }) {
      const below = base.version === 'v2' ? '/api/v2' : `/api/v1/${base.tenant}`;
      const response = await fetch(`${url}${below}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${tenant.token}`,
          // fetch requests compression, which costs a test more time than it saves.
          'accept-encoding': 'identity',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      await checkAnswer(method, path, response, base.version);
      return response;
    },
    stop: () => running.disposeAsync(),
  };
}

/** The document of one mutation, with its user errors. */
export const mutationOf = (name: string, selection = ''): string =>
  `mutation ($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} userErrors { __typename code message path } } }`;

/** Sends an operation over HTTP. The suite makes tens of thousands of calls, and the streams and headers of fetch cost twice as much. */
export async function post(url: string, query: string, variables: object, token: string): Promise<GraphQLAnswer> {
  const { body } = await request(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  return checkCodes(withoutCost((await body.json()) as GraphQLAnswer));
}

const REQUEST_CODES: ReadonlySet<string> = new Set(
  assertEnumType(schema.getType('RequestErrorCode'))
    .getValues()
    .map(({ name }) => name),
);

/** Checks that every top-level error of the suite has a code of the enum RequestErrorCode. */
function checkCodes(answer: GraphQLAnswer): GraphQLAnswer {
  for (const { extensions } of answer.errors ?? [])
    if (!REQUEST_CODES.has(extensions.code))
      throw new Error(`RequestErrorCode lacks ${extensions.code}: ${JSON.stringify(answer.errors)}`);
  return answer;
}

async function graphiqlToken(url: string): Promise<string> {
  const db = createDatabase({ url, poolSize: 1, readers: 1, log: createLog('silent') });
  try {
    const { tenant_id: id } = await db.transaction(trx =>
      createTenant(trx, { slug: 'graphiql', name: 'graphiql', plan: 'unlimited', windowPolicy: 'network' }),
    );
    const grant = { scopes: new Set<string>(SCOPES), callsPerMinute: 600, expiresAtMs: undefined };
    return (
      await createToken(
        db.write,
        id,
        { name: 'graphiql', scopes: ['*'], callsPerMinute: 600, expiresAt: undefined },
        grant,
        Date.now(),
      )
    ).token;
  } finally {
    await db.close();
  }
}

const contracts = new Map<Version, Promise<Contract>>();

/** Checks an answer of REST against the OpenAPI document, which is made once in a test file that needs it. @throws if they differ */
export async function checkAnswer(
  method: string,
  path: string,
  response: Response,
  version: Version = 'v2',
): Promise<void> {
  const contract = contracts.get(version) ?? import('../rest/contract.ts').then(module => new module.Contract(version));
  contracts.set(version, contract);
  const type = response.headers.get('content-type');
  const checked = { method, path, status: response.status, type, text: await response.clone().text() };
  const fault = (await contract).faultOf(checked);
  if (fault !== undefined) throw new Error(`An answer is not what openapi.json says. ${fault}`);
}

/** Waits until a condition holds. The default timeout is long, for loaded machines. @throws the last failure after `timeoutMs` */
export async function eventually<T>(check: () => Promise<T> | T, timeoutMs = 120_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  // What takes long is asked for less and less often: many tests wait at the same time, and asking is work as well.
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.2, 100)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, pauseMs));
    }
  }
}
