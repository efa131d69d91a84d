import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SCOPES } from '../../src/core/scopes.ts';
import { createDatabase } from '../../src/database/database.ts';
import type { FaultsPatch } from '../../src/emulator/faults.ts';
import type { EmulatorNumber } from '../../src/emulator/options.ts';
import type { SentReport } from '../../src/emulator/sent-log.ts';
import { connectChannel } from '../../src/features/channels/connect.ts';
import { createTenant } from '../../src/features/tenancy/tenants/create.ts';
import { createToken } from '../../src/features/tenancy/tokens/create.ts';
import { createCloudApiNetwork } from '../../src/network/cloud-api/client.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createSecretBox } from '../../src/platform/crypto.ts';
import { createLog } from '../../src/platform/log.ts';

/** Programs in separate processes, for tests and fault runs that stop or kill them. */

const EMULATOR = fileURLToPath(new URL('../emulator/emulator-process.ts', import.meta.url));
export const APP_SECRET = 'app-secret';
const VERIFY_TOKEN = 'verify-token';
const LINES_IN_ERROR = 20;

/** Starts a Node program whose standard output is read by `lineOf`; it is killed when `children` is emptied. */
export function startProgram(
  children: Set<ChildProcess>,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): ChildProcess {
  const child = spawn(process.execPath, args, { env, cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  return child;
}

/** The URL at which a gateway listens, from its log. */
export const listeningUrl = (child: ChildProcess): Promise<string> =>
  lineOf(child, line => (line.includes('"listening"') ? (JSON.parse(line) as { url: string }).url : undefined));

/** The first line of a process's output that `read` understands; later output is discarded. */
export function lineOf(child: ChildProcess, read: (line: string) => string | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('The output of the process is not piped.');
    const unread: string[] = [];
    createInterface({ input: child.stdout }).on('line', line => {
      const found = read(line);
      if (found !== undefined) resolve(found);
      else if (unread.push(line) > LINES_IN_ERROR) unread.shift();
    });
    // `close` comes after the last line, `exit` may come before it.
    child.once('close', code => reject(new Error(`The process ended with ${code}.\n${unread.join('\n')}`)));
  });
}

/** Kills a process, even a stopped one, and resolves when it has exited. */
export async function kill(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

export async function killAll(children: ReadonlySet<ChildProcess>): Promise<void> {
  await Promise.all([...children].map(kill));
}

/**
 * A free port below those that Linux (from 32,768) and macOS (from 49,152) give to outgoing connections, one of which
 * could take the port before the test listens on it, or while the test has stopped what listened there.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_768);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}

/** An emulated network in a separate process. @returns its URL */
export function startEmulatorProcess(
  children: Set<ChildProcess>,
  numbers: readonly EmulatorNumber[],
  faults: FaultsPatch,
): Promise<string> {
  const options = { appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN, numbers, faults };
  return lineOf(startProgram(children, [EMULATOR, JSON.stringify(options)], process.env), line =>
    line.startsWith('http') ? line : undefined,
  );
}

/** Sets the URL to which the network posts its webhooks. It repeats what failed, so that a gateway that is started again gets it. */
export async function setWebhookUrl(emulatorUrl: string, gatewayUrl: string): Promise<void> {
  await post(`${emulatorUrl}/_emulator/webhook-url`, { url: `${gatewayUrl}/network/cloud-api/webhook` });
}

/** Changes how the network behaves from now on. */
export async function setFaults(emulatorUrl: string, faults: FaultsPatch): Promise<void> {
  await post(`${emulatorUrl}/_emulator/faults`, faults);
}

async function post(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
}

/** The counts of the messages that the network accepted. */
export async function sentReport(emulatorUrl: string): Promise<SentReport> {
  const answer = await fetch(`${emulatorUrl}/_emulator/sent?limit=0`);
  return (await answer.json()) as SentReport;
}

const SEND_TEXT = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { message { databaseId } } }';

export interface TextToSend {
  readonly to: string;
  readonly text: string;
  readonly idempotencyKey?: string;
}

/** Accepts a text over HTTP. @returns the id of the message; undefined when the gateway did not accept it */
export async function sendText(
  url: string,
  token: string,
  { to, text, ...options }: TextToSend,
): Promise<string | undefined> {
  const input = { to: { phone: to }, content: { text: { body: text } }, ...options };
  try {
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: SEND_TEXT, variables: { input } }),
      signal: AbortSignal.timeout(30_000),
    });
    const body = (await answer.json()) as {
      data?: { sendMessage?: { message?: { databaseId: string } | null } | null } | null;
    };
    return body.data?.sendMessage?.message?.databaseId;
  } catch {
    return undefined;
  }
}

/** Creates a tenant with one channel for the given number, as the command line does. @returns a token with every scope */
export async function seedTenant(
  databaseUrl: string,
  secretKey: Uint8Array,
  emulatorUrl: string,
  slug: string,
  number: EmulatorNumber,
): Promise<string> {
  const log = createLog('silent');
  const db = createDatabase({ url: databaseUrl, poolSize: 1, readers: 1, log });
  const network = createCloudApiNetwork({ baseUrl: emulatorUrl, log });
  try {
    const tenant = await db.transaction(trx =>
      createTenant(trx, { slug, name: slug, plan: 'unlimited', windowPolicy: 'network' }),
    );
    await connectChannel(
      { db, network, secrets: createSecretBox({ current: secretKey }), clock: systemClock },
      tenant.tenant_id,
      {
        ...number,
        messagesPerSecond: number.messagesPerSecond ?? 80,
        name: slug,
        appSecret: APP_SECRET,
        verifyToken: VERIFY_TOKEN,
      },
    );
    const grant = { scopes: new Set<string>(SCOPES), callsPerMinute: 6_000, expiresAtMs: undefined };
    const request = { name: 'test', scopes: ['*'], callsPerMinute: 6_000, expiresAt: undefined };
    return (await createToken(db.write, tenant.tenant_id, request, grant, Date.now())).token;
  } finally {
    await network.close();
    await db.close();
  }
}
