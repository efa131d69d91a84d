import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrateDatabase } from '../../src/cli/migrate.ts';
import type { SentReport } from '../../src/emulator/sent-log.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded/postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import {
  freePort,
  kill,
  killAll,
  listeningUrl,
  seedTenant,
  sentReport,
  setWebhookUrl,
  startEmulatorProcess,
  startProgram,
} from '../support/processes.ts';

const PROCESS = fileURLToPath(new URL('gateway-process.ts', import.meta.url));
/** Several lanes, so that both workers hold some. */
const TENANTS = 4;
const WORKERS = 2;

/** How long a process may be silent before others take over; shortened for the quick run. */
export interface Times {
  readonly leaseMs: number;
  readonly requestTimeoutMs: number;
  /** How long a send whose answer was lost waits for its status. */
  readonly reconcileMs: number;
}

/** A PostgreSQL, an emulated network, a gateway and two workers, each a separate process. */
export interface Rig {
  readonly gatewayUrl: string;
  readonly emulatorUrl: string;
  /** One token per tenant. */
  readonly tokens: readonly string[];
  readonly workers: readonly ChildProcess[];
  /** Kills a worker and starts another in its place, whose clock may be wrong. */
  replaceWorker(index: number, clockOffsetMs?: number): Promise<void>;
  stopDatabase(): Promise<void>;
  startDatabase(): Promise<void>;
  /** Messages that are accepted and not settled. */
  backlog(): Promise<number>;
  sent(): Promise<SentReport>;
  stop(): Promise<void>;
}

export async function startRig(times: Times): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), 'parley-chaos-'));
  // Accessible to the user as which root runs PostgreSQL.
  await chmod(directory, 0o711);
  const children = new Set<ChildProcess>();
  // Interrupted, it leaves no process behind; the embedded PostgreSQL ends with this one by itself.
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const log = createLog('silent');
  let server: EmbeddedPostgres | undefined;
  const stop = async (): Promise<void> => {
    await killAll(children);
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const port = await freePort();
    const startServer = () =>
      startEmbeddedPostgres({ directory: join(directory, 'database'), port, durable: true, log });
    server = await startServer();
    const { url } = server;
    await migrateDatabase(url);
    const numbers = Array.from({ length: TENANTS }, (_, index) => numberOf(index));
    const emulatorUrl = await startEmulatorProcess(children, numbers, {
      window: 'open',
      pairLimit: false,
      throughputLimit: false,
      latencyMs: 40,
    });
    const secretKey = randomBytes(32);
    const tokens: string[] = [];
    for (const [index, number] of numbers.entries())
      tokens.push(await seedTenant(url, secretKey, emulatorUrl, `tenant-${index}`, number));
    const env = {
      ...process.env,
      DATABASE_URL: url,
      PARLEY_SECRET_KEY: secretKey.toString('base64'),
      PARLEY_NETWORK_URL: emulatorUrl,
      PARLEY_NETWORK_TIMEOUT_MS: String(times.requestTimeoutMs),
      PARLEY_RECONCILE_MS: String(times.reconcileMs),
      PARLEY_LANE_LEASE_MS: String(times.leaseMs),
      PARLEY_LOG_LEVEL: 'info',
      PARLEY_MEDIA_DIR: join(directory, 'media'),
      npm_lifecycle_event: '',
      PORT: '0',
    };
    const startProcess = async (role: string, offsetMs: number): Promise<{ child: ChildProcess; url: string }> => {
      const child = startProgram(children, [PROCESS, role, String(offsetMs)], env);
      return { child, url: await listeningUrl(child) };
    };
    const startWorker = async (clockOffsetMs = 0) => (await startProcess('worker', clockOffsetMs)).child;
    const gateway = await startProcess('gateway', 0);
    await setWebhookUrl(emulatorUrl, gateway.url);
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => startWorker()));
    return {
      gatewayUrl: gateway.url,
      emulatorUrl,
      tokens,
      workers,
      async replaceWorker(index, clockOffsetMs) {
        await kill(workers[index]);
        workers[index] = await startWorker(clockOffsetMs);
      },
      async stopDatabase() {
        await server?.stop();
        server = undefined;
      },
      async startDatabase() {
        server = await startServer();
      },
      async backlog() {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        try {
          const { rows } = await client.query<{ count: number }>('select count(*)::int as count from outbox');
          return rows[0]?.count ?? 0;
        } finally {
          await client.end();
        }
      },
      sent: () => sentReport(emulatorUrl),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const numberOf = (index: number) => ({
  phoneNumberId: `10654035224292${index}`,
  wabaId: `10229012934039${index}`,
  displayPhoneNumber: `+1 555 078 388${index}`,
  verifiedName: `Tenant ${index}`,
  accessToken: `access-token-${index}`,
  messagesPerSecond: 1_000,
});
