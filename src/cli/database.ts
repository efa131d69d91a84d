import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createDatabase, type Database, type DatabaseOptions } from '../database/database.ts';
import { openSecretBox } from '../database/deployment.ts';
import { pendingMigrations } from '../database/migrations.ts';
import { requireOriginalLog } from '../events/origin.ts';
import type { SecretBox } from '../platform/crypto.ts';
import { parseJson } from '../platform/json.ts';
import { createLog } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';
import { explain } from './explain.ts';

/** Written to dev.json by `parley dev`, for users and for other commands. */
export interface DevFacts {
  readonly baseUrl: string;
  /** Signs a browser in, once. */
  readonly dashboardUrl: string;
  readonly graphqlUrl: string;
  readonly restV2Url: string;
  readonly restV1Url: string;
  readonly emulatorUrl: string;
  readonly databaseUrl: string;
  readonly tenant: string;
  readonly token: string;
  readonly phoneNumberId: string;
  readonly wabaId: string;
  readonly appSecret: string;
  readonly verifyToken: string;
}

export const DEV_DIRECTORY = '.parley';
const DEV_FACTS = 'dev.json';
const SECRET_KEY = 'secret.key';

export const factsPath = (directory: string): string => join(directory, DEV_FACTS);
export const secretKeyPath = (directory: string): string => join(directory, SECRET_KEY);

/**
 * @returns undefined if no development gateway was started in the directory
 * @throws UserError if the file is not JSON
 */
export async function readFacts(directory: string): Promise<DevFacts | undefined> {
  const text = await readFile(factsPath(directory), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const facts = parseJson(text);
  if (typeof facts === 'object' && facts !== null) return facts as DevFacts;
  throw new UserError(`${factsPath(directory)} is not a JSON file. Delete it: \`parley dev\` writes it again.`);
}

/** Returns DATABASE_URL, otherwise the database of the development gateway running in this directory. */
async function databaseUrlOf(config: Config): Promise<string> {
  const url = config.databaseUrl ?? (await readFacts(DEV_DIRECTORY))?.databaseUrl;
  if (url === undefined) {
    throw new UserError(
      'No database: set DATABASE_URL=postgres://user:password@host:5432/database, or start `parley dev` in this directory.',
    );
  }
  return url;
}

/**
 * Returns the box that encrypts and decrypts secrets, with the configured keys or those of the development gateway.
 * @throws UserError if there is no key, or it is not the key of this database
 */
export const secretBoxOf = async (config: Config, db: Database): Promise<SecretBox> =>
  openSecretBox(db, { current: await secretKeyOf(config), previous: config.previousSecretKey });

async function secretKeyOf(config: Config): Promise<Uint8Array> {
  if (config.secretKey) return config.secretKey;
  const key =
    config.databaseUrl === undefined ? await readFile(secretKeyPath(DEV_DIRECTORY)).catch(() => undefined) : undefined;
  if (!key)
    throw new UserError(
      'PARLEY_SECRET_KEY is required: 32 bytes as base64, for example from `openssl rand -base64 32`.',
    );
  return new Uint8Array(key);
}

/** Opens the database for one command. @throws UserError if it is unavailable */
export async function withDatabase<T>(
  config: Config,
  work: (db: Database, url: string) => Promise<T>,
  options: Pick<DatabaseOptions, 'statementTimeoutMs'> = {},
): Promise<T> {
  const url = await databaseUrlOf(config);
  const log = createLog('silent');
  const { statementTimeoutMs } = config.database;
  const db = createDatabase({
    url,
    pgbouncer: config.pgbouncer,
    poolSize: 2,
    readers: 1,
    statementTimeoutMs,
    log,
    ...options,
  });
  try {
    return await work(db, url);
  } catch (error) {
    throw await explainSchema(error, db);
  } finally {
    await db.close();
  }
}

/** SQLSTATEs of a missing table, column or function, which a pending migration may create. */
const MISSING = /^42(P01|703|883)$/;

/** Unlike `serve`, commands check for pending migrations only after an error, to save a statement. */
async function explainSchema(error: unknown, db: Database): Promise<unknown> {
  if (!MISSING.test(String((error as { code?: unknown }).code))) return explain(error);
  const pending = await pendingMigrations(db.read);
  if (pending.length === 0) return error;
  return new UserError(
    `The database lacks ${pending.length} migration(s) of this version, from ${pending[0]} to ${pending.at(-1)}: run \`parley migrate\` first.`,
    { cause: error },
  );
}

/**
 * Opens the database for a command that changes it.
 * @throws UserError if it is unavailable, or was restored or copied and `parley restore-log` has not run yet
 */
export const changeDatabase = <T>(config: Config, work: (db: Database, url: string) => Promise<T>): Promise<T> =>
  withDatabase(config, async (db, url) => {
    await requireOriginalLog(db);
    return work(db, url);
  });

/** Signals and lanes of a command: running processes find events and lanes by polling, within two seconds. */
export const POLLED = { signals: { send: () => undefined }, lanes: { wake: () => undefined } };
