import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FaultsPatch } from '../../src/emulator/faults.ts';
import type { SentReport } from '../../src/emulator/sent-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  killAll,
  listeningUrl,
  seedTenant,
  sentReport,
  startEmulatorProcess,
  startProgram,
} from '../support/processes.ts';

const SERVE = fileURLToPath(new URL('../chaos/gateway-process.ts', import.meta.url));
const LAUNCH = fileURLToPath(new URL('../../src/launch.js', import.meta.url));

const NUMBER = {
  phoneNumberId: '106540352242922',
  wabaId: '102290129340398',
  displayPhoneNumber: '+1 555 078 3881',
  verifiedName: 'Killed and alive',
  accessToken: 'access-token',
  messagesPerSecond: 1_000,
};

export interface GatewayProcess {
  readonly url: string;
  /** `kill -9`: resolves when the process is gone. */
  kill(): Promise<void>;
  /** Stops gracefully. @returns the exit code */
  end(): Promise<number | null>;
}

/** A database with one tenant, an emulated network in a separate process, and gateways that can be killed. */
export interface Plant {
  readonly database: TestDatabase;
  readonly token: string;
  readonly emulatorUrl: string;
  readonly mediaDirectory: string;
  startGateway(port: number): Promise<GatewayProcess>;
  /** Starts a command, not a server, with the environment of the gateways. */
  startCommand(...args: readonly string[]): ChildProcess;
  /** Starts a process with one role on any port. */
  startRole(role: 'gateway' | 'worker'): Promise<{ readonly child: ChildProcess; readonly url: string }>;
  /** Counts of messages accepted by the network. */
  sent(): Promise<SentReport>;
  stop(): Promise<void>;
}

/** Shorter than in production, but long enough for responses and statuses on a busy machine. */
const TIMES = { PARLEY_NETWORK_TIMEOUT_MS: '4000', PARLEY_RECONCILE_MS: '8000' };

export async function startPlant(faults: FaultsPatch, times: Readonly<Record<string, string>> = TIMES): Promise<Plant> {
  const database = await createTestDatabase();
  const secretKey = randomBytes(32);
  const children = new Set<ChildProcess>();
  const emulatorUrl = await startEmulatorProcess(children, [NUMBER], faults);
  const token = await seedTenant(database.url, secretKey, emulatorUrl, 'plant', NUMBER);
  const mediaDirectory = await mkdtemp(join(tmpdir(), 'parley-plant-'));
  const env = {
    ...process.env,
    ...times,
    PARLEY_MEDIA_DIR: mediaDirectory,
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
    mediaDirectory,
    async startGateway(port) {
      const child = startProgram(children, [LAUNCH, 'serve'], { ...env, PORT: String(port) });
      const url = await listeningUrl(child);
      const gone = once(child, 'exit') as Promise<[number | null]>;
      const send = async (signal: NodeJS.Signals): Promise<number | null> => {
        child.kill(signal);
        return (await gone)[0];
      };
      return { url, kill: async () => void (await send('SIGKILL')), end: () => send('SIGTERM') };
    },
    startCommand: (...args) => startProgram(children, [LAUNCH, ...args], env),
    async startRole(role) {
      const child = startProgram(children, [SERVE, role], { ...env, PORT: '0' });
      return { child, url: await listeningUrl(child) };
    },
    sent: () => sentReport(emulatorUrl),
    async stop() {
      await killAll(children);
      await database.drop();
      await rm(mediaDirectory, { recursive: true, force: true });
    },
  };
}
