import { randomBytes } from 'node:crypto';
import { openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { Gateway } from '../app/serve.ts';
import { type Config, loadConfig } from '../config.ts';
import { createDatabase } from '../database/database.ts';
import { openSecretBox } from '../database/deployment.ts';
import { type Emulator, startEmulator } from '../emulator/emulator.ts';
import { findTenant } from '../features/tenancy/tenants/store.ts';
import { createTokenVerifier } from '../features/tenancy/tokens/verifier.ts';
import { createCloudApiNetwork } from '../network/cloud-api/client.ts';
import { systemClock } from '../platform/clock.ts';
import { type EmbeddedPostgres, removeEmbeddedPostgres, startEmbeddedPostgres } from '../platform/embedded/postgres.ts';
import { createLog, type Log } from '../platform/log.ts';
import { createLogOutput } from '../platform/log-output.ts';
import { parseRange } from '../platform/public-address.ts';
import { UserError } from '../platform/user-error.ts';
import { DEV_DIRECTORY, type DevFacts, factsPath, readFacts, secretKeyPath } from './database.ts';
import { DEMO_NETWORK, DEMO_TENANT, type DemoAccess, newDemoToken, newLinkToken, seedDemo } from './demo.ts';
import { fillDemo } from './demo-activity.ts';
import { DEMO_TEMPLATES } from './demo-templates.ts';
import { emulatorRoutes } from './emulator-routes.ts';
import { migrateDatabase } from './migrate.ts';
import { untilStopped } from './until-stopped.ts';

const EMULATOR_PORT = 4010;
/** In development, webhook receivers run on the same machine. */
const LOOPBACK = ['127.0.0.0/8', '::1/128'].map(parseRange).filter(range => range !== undefined);

export function devCommand(): Command {
  return new Command('dev')
    .description('start a development gateway with an embedded PostgreSQL, an emulated network and a demo tenant')
    .option('--reset', 'delete all data of earlier starts first', false)
    .option('--json', 'print JSON: the addresses and the token in one line, when it runs', false)
    .addHelpText(
      'after',
      '\nData, logs and dev.json (addresses, token) are kept in .parley/. PORT and HOST set the address to listen on; DATABASE_URL uses your own PostgreSQL.',
    )
    .action(async ({ reset, json }: { reset: boolean; json: boolean }) => {
      const directory = resolve(DEV_DIRECTORY);
      const config = loadConfig();
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const development = new Development(directory, config, json);
      await untilStopped(config, async () => {
        if (reset) await development.reset();
        await development.start();
        return () => development.stop();
      });
    });
}

type SeededAccess = DemoAccess & { readonly linkToken: string };

/** The parts of a development gateway, started in order and stopped in reverse order. */
class Development {
  readonly #directory: string;
  readonly #config: Config;
  readonly #log: Log;
  readonly #json: boolean;
  #postgres: EmbeddedPostgres | undefined;
  #emulator: Emulator | undefined;
  #gateway: Gateway | undefined;
  #filling: Promise<void> = Promise.resolve();

  constructor(directory: string, config: Config, json: boolean) {
    this.#directory = directory;
    this.#json = json;
    this.#config = config;
    this.#log = createLog(config.logLevel, createLogOutput(openSync(join(directory, 'parley.log'), 'a')));
  }

  async reset(): Promise<void> {
    this.#note('Deleting the data of earlier starts …');
    await removeEmbeddedPostgres(this.#directory, { log: this.#log });
    for (const path of [factsPath(this.#directory), this.#journal, join(this.#directory, 'media')])
      await rm(path, { recursive: true, force: true });
  }

  get #journal(): string {
    return join(this.#directory, 'emulator.jsonl');
  }

  #note(text: string): void {
    if (!this.#json) process.stdout.write(`${text}\n`);
  }

  async start(): Promise<void> {
    try {
      const secretKey = await this.#secretKey();
      const databaseUrl = await this.#database();
      const applied = await migrateDatabase(databaseUrl, this.#config);
      if (applied.length > 0) this.#note(`Applied ${applied.length} migrations.`);
      this.#emulator = await this.#startEmulator();
      const seeded = await this.#seed(databaseUrl, secretKey, this.#emulator.url);
      // The page contains the token only if no other machine can open it.
      const graphiql = { token: isLoopback(this.#config.host) ? seeded.token : undefined };
      const network = { ...this.#config.network, baseUrl: this.#emulator.url };
      const allowedRanges = [...this.#config.webhooks.allowedRanges, ...LOOPBACK];
      const webhooks = { ...this.#config.webhooks, allowHttp: true, allowedRanges };
      const config = { ...this.#config, databaseUrl, secretKey, network, graphiql, webhooks };
      const [{ schema }, { serve }] = await Promise.all([import('../app/schema.ts'), import('../app/serve.ts')]);
      const addRoutes = emulatorRoutes(this.#emulator.url);
      this.#gateway = await serve({ config, schema, role: 'all', log: this.#log, addRoutes });
      const facts = this.#facts(this.#gateway.server.url, this.#emulator.url, databaseUrl, seeded);
      this.#emulator.setWebhookUrl(`${facts.baseUrl}/network/cloud-api/webhook`);
      this.#filling = this.#fill(facts, seeded);
      await writeFile(factsPath(this.#directory), `${JSON.stringify(facts, null, 2)}\n`, { mode: 0o600 });
      process.stdout.write(`${this.#json ? JSON.stringify(facts) : banner(facts)}\n`);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /**
   * Fills the demo tenant in the background at its first start. What fails is missing in the demo, and logged. Those who write in
   * come last: the first conversations of the inbox have open windows.
   */
  async #fill(gateway: DevFacts, { people, writers }: DemoAccess): Promise<void> {
    try {
      if (people.length > 0) await fillDemo(gateway, people, systemClock.now());
    } catch (error) {
      this.#log.warn({ err: error }, 'the demo tenant is not filled');
    }
    for (const { phone, name } of writers)
      this.#emulator?.inbound({ from: phone, text: 'Hi! Is this still available?', profileName: name });
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
    await this.#filling;
    await this.#emulator?.stop();
    await this.#postgres?.stop();
  }

  async #secretKey(): Promise<Uint8Array> {
    if (this.#config.secretKey) return this.#config.secretKey;
    const path = secretKeyPath(this.#directory);
    const kept = await readFile(path).catch(() => undefined);
    if (kept?.length === 32) return new Uint8Array(kept);
    const fresh = randomBytes(32);
    await writeFile(path, fresh, { mode: 0o600 });
    return new Uint8Array(fresh);
  }

  async #database(): Promise<string> {
    if (this.#config.databaseUrl !== undefined) return this.#config.databaseUrl;
    this.#note('Starting PostgreSQL …');
    this.#postgres = await startEmbeddedPostgres({ directory: this.#directory, durable: true, log: this.#log });
    return this.#postgres.url;
  }

  async #startEmulator(): Promise<Emulator> {
    const options = {
      appSecret: DEMO_NETWORK.appSecret,
      verifyToken: DEMO_NETWORK.verifyToken,
      numbers: [DEMO_NETWORK.number],
      templates: DEMO_TEMPLATES,
      journal: this.#journal,
      log: this.#log,
    };
    if (this.#config.emulatorPort !== undefined) return startEmulator({ ...options, port: this.#config.emulatorPort });
    // The default port was not requested explicitly: if it is taken, use any free one.
    return startEmulator({ ...options, port: EMULATOR_PORT }).catch(error => {
      if (error instanceof UserError) return startEmulator({ ...options, port: 0 });
      throw error;
    });
  }

  /** Creates the demo tenant at the first start. Later starts reuse the last token while it is valid. */
  async #seed(databaseUrl: string, secretKey: Uint8Array, emulatorUrl: string): Promise<SeededAccess> {
    const db = createDatabase({ url: databaseUrl, poolSize: 2, readers: 1, log: this.#log });
    const network = createCloudApiNetwork({
      baseUrl: emulatorUrl,
      version: this.#config.network.version,
      log: this.#log,
    });
    try {
      const secrets = await openSecretBox(db, { current: secretKey, previous: this.#config.previousSecretKey });
      const nowMs = systemClock.now();
      const seeded = await seedDemo({ db, network, secrets }, nowMs);
      const tenant = await findTenant(db.write, DEMO_TENANT);
      if (!tenant)
        throw new UserError(
          `The tenant ${DEMO_TENANT} does not exist any more. Start with --reset to create it again.`,
        );
      const linkToken = await newLinkToken(db.write, tenant.tenant_id, nowMs);
      if (seeded) return { ...seeded, linkToken };
      const known = (await readFacts(this.#directory).catch(() => undefined))?.token;
      if (known !== undefined && (await createTokenVerifier(db, undefined, systemClock, this.#log).verify(known)))
        return { token: known, linkToken, writers: [], people: [] };
      return { token: await newDemoToken(db.write, tenant.tenant_id, nowMs), linkToken, writers: [], people: [] };
    } finally {
      await network.close();
      await db.close();
    }
  }

  #facts(serverUrl: string, emulatorUrl: string, databaseUrl: string, { token, linkToken }: SeededAccess): DevFacts {
    const baseUrl = serverUrl.replace('//0.0.0.0:', '//localhost:').replace('//[::]:', '//localhost:');
    return {
      baseUrl,
      dashboardUrl: `${baseUrl}/#sign-in=${linkToken}`,
      graphqlUrl: `${baseUrl}/graphql`,
      restV2Url: `${baseUrl}/api/v2`,
      restV1Url: `${baseUrl}/api/v1/${DEMO_TENANT}`,
      emulatorUrl,
      databaseUrl,
      tenant: DEMO_TENANT,
      token,
      phoneNumberId: DEMO_NETWORK.number.phoneNumberId,
      wabaId: DEMO_NETWORK.number.wabaId,
      appSecret: DEMO_NETWORK.appSecret,
      verifyToken: DEMO_NETWORK.verifyToken,
    };
  }
}

const isLoopback = (host: string): boolean => /^(127\.|localhost$|::1$)/.test(host);

const banner = (facts: DevFacts): string => `
Parley is running. Stop it with Ctrl-C.

  Dashboard   ${facts.dashboardUrl}
              (signs in one browser)
  GraphiQL    ${facts.graphqlUrl}
  REST v2     ${facts.restV2Url}
  Emulator    ${facts.emulatorUrl}/_emulator/
  Tenant      ${facts.tenant}
  Token       ${facts.token}

This information is also in ${factsPath(DEV_DIRECTORY)}; the log is ${join(DEV_DIRECTORY, 'parley.log')}.
`;
