import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connectChannel } from '../../src/features/channels/connect.ts';
import { createTenant } from '../../src/features/tenants/create.ts';
import { createToken } from '../../src/features/tokens/create.ts';
import { createCloudApiNetwork } from '../../src/network/cloud-api/client.ts';
import type { FaultsPatch } from '../../src/network/emulator/faults.ts';
import type { SentReport } from '../../src/network/emulator/sent-log.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { createDatabase } from '../../src/platform/database.ts';
import { createLog } from '../../src/platform/log.ts';
import { SCOPES } from '../../src/scopes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const LAUNCH = fileURLToPath(new URL('../../src/launch.js', import.meta.url));
const EMULATOR = fileURLToPath(new URL('../network/emulator-process.ts', import.meta.url));

const NUMBER = {
  phoneNumberId: '106540352242922',
  wabaId: '102290129340398',
  displayPhoneNumber: '+1 555 078 3881',
  verifiedName: 'Killed and alive',
  accessToken: 'access-token',
  messagesPerSecond: 1_000,
};
const APP_SECRET = 'app-secret';
const VERIFY_TOKEN = 'verify-token';

export interface GatewayProcess {
  readonly url: string;
  /** `kill -9`: resolves when the process is gone. */
  kill(): Promise<void>;
  /** A polite end. @returns the exit code */
  end(): Promise<number | null>;
}

/** A database with one tenant, an emulated network in a process of its own, and gateways that can be killed. */
export interface Plant {
  readonly database: TestDatabase;
  readonly token: string;
  readonly emulatorUrl: string;
  startGateway(port: number): Promise<GatewayProcess>;
  /** What the network took: `limit` 0, so only the counts. */
  sent(): Promise<SentReport>;
  stop(): Promise<void>;
}

/** Short, so that a test need not wait as long as a person would; long enough for the answers and statuses of a busy machine. */
const TIMES = { PARLEY_NETWORK_TIMEOUT_MS: '4000', PARLEY_RECONCILE_MS: '8000' };

export async function startPlant(faults: FaultsPatch): Promise<Plant> {
  const database = await createTestDatabase();
  const secretKey = randomBytes(32);
  const children = new Set<ChildProcess>();
  const emulatorUrl = await startEmulatorProcess(children, faults);
  const token = await seed(database.url, secretKey, emulatorUrl);
  const env = {
    ...process.env,
    ...TIMES,
    DATABASE_URL: database.url,
    PARLEY_SECRET_KEY: secretKey.toString('base64'),
    PARLEY_NETWORK_URL: emulatorUrl,
    PARLEY_LOG_LEVEL: 'info',
    PARLEY_DATABASE_POOL: '6',
    npm_lifecycle_event: '',
  };
  return {
    database,
    token,
    emulatorUrl,
    async startGateway(port) {
      const child = start(children, [LAUNCH, 'serve'], { ...env, PORT: String(port) });
      const url = await lineOf(child, line =>
        line.includes('"listening"') ? (JSON.parse(line) as { url: string }).url : undefined,
      );
      const gone = once(child, 'exit') as Promise<[number | null]>;
      const send = async (signal: NodeJS.Signals): Promise<number | null> => {
        child.kill(signal);
        return (await gone)[0];
      };
      return { url, kill: async () => void (await send('SIGKILL')), end: () => send('SIGTERM') };
    },
    async sent() {
      const answer = await fetch(`${emulatorUrl}/_emulator/sent?limit=0`);
      return (await answer.json()) as SentReport;
    },
    async stop() {
      const alive = [...children].filter(child => child.exitCode === null && child.signalCode === null);
      const gone = Promise.all(alive.map(child => once(child, 'exit')));
      for (const child of alive) child.kill('SIGKILL');
      await gone;
      await database.drop();
    },
  };
}

/** Where the network posts its webhooks; a gateway started again on the same port gets what the dead one did not. */
export async function setWebhookUrl({ emulatorUrl }: Plant, gatewayUrl: string): Promise<void> {
  const url = `${gatewayUrl}/network/cloud-api/webhook`;
  await fetch(`${emulatorUrl}/_emulator/webhook-url`, { method: 'POST', body: JSON.stringify({ url }) }).then(answer =>
    answer.text(),
  );
}

/** Changes how the network behaves from now on. */
export async function setFaults({ emulatorUrl }: Plant, faults: FaultsPatch): Promise<void> {
  const answer = await fetch(`${emulatorUrl}/_emulator/faults`, { method: 'POST', body: JSON.stringify(faults) });
  if (!answer.ok) throw new Error(await answer.text());
}

/** A port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Accepts a text over HTTP. @returns the id of the message; undefined when the gateway did not answer */
export async function sendText(url: string, token: string, to: string, text: string): Promise<string | undefined> {
  const query =
    'mutation ($to: String!, $text: String!) { sendTextMessage(input: { to: $to, text: $text }) { databaseId } }';
  try {
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables: { to, text } }),
    });
    const body = (await answer.json()) as { data?: { sendTextMessage?: { databaseId: string } | null } };
    return body.data?.sendTextMessage?.databaseId;
  } catch {
    return undefined;
  }
}

async function startEmulatorProcess(children: Set<ChildProcess>, faults: FaultsPatch): Promise<string> {
  const options = { appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN, numbers: [NUMBER], faults };
  return lineOf(start(children, [EMULATOR, JSON.stringify(options)], process.env), line =>
    line.startsWith('http') ? line : undefined,
  );
}

function start(children: Set<ChildProcess>, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  return child;
}

/** The first line of a process's output that means something; what follows is read and forgotten. */
function lineOf(child: ChildProcess, read: (line: string) => string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('The output is not read.');
    createInterface({ input: child.stdout }).on('line', line => {
      const found = read(line);
      if (found !== undefined) resolve(found);
    });
    child.once('exit', code => reject(new Error(`The process ended with ${code}.`)));
  });
}

/** One tenant with a channel; as the command line makes them. @returns a token for everything */
async function seed(url: string, secretKey: Uint8Array, emulatorUrl: string): Promise<string> {
  const log = createLog('silent');
  const db = createDatabase({ url, poolSize: 1, readers: 1, log });
  const network = createCloudApiNetwork({ baseUrl: emulatorUrl, log });
  try {
    const tenant = await db.transaction(trx =>
      createTenant(trx, { slug: 'plant', name: 'Plant', plan: 'unlimited', windowPolicy: 'network' }),
    );
    const needs = { db, network, secrets: createSecretBox(secretKey) };
    await connectChannel(needs, tenant.tenant_id, {
      ...NUMBER,
      name: 'Plant',
      appSecret: APP_SECRET,
      verifyToken: VERIFY_TOKEN,
    });
    const grant = { scopes: new Set<string>(SCOPES), callsPerMinute: 6_000, expiresAtMs: undefined };
    const request = { name: 'test', scopes: ['*'], callsPerMinute: 6_000, expiresAt: undefined };
    return (await createToken(db.write, tenant.tenant_id, request, grant, Date.now())).token;
  } finally {
    await network.close();
    await db.close();
  }
}
