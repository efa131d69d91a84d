import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createDatabase, type Database, type DatabaseOptions } from '../database/database.ts';
import { openSecretBox } from '../database/deployment.ts';
import { isUnavailable } from '../database/unavailable.ts';
import { requireOriginalLog } from '../events/origin.ts';
import type { SecretBox } from '../platform/crypto.ts';
import { createLog } from '../platform/log.ts';
import { UserError } from '../platform/user-error.ts';

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

/** @returns undefined if no development gateway was started in the directory */
export async function readFacts(directory: string): Promise<DevFacts | undefined> {
  const text = await readFile(factsPath(directory), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as DevFacts);
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
  const db = createDatabase({ url, pgbouncer: config.pgbouncer, poolSize: 2, readers: 1, log, ...options });
  try {
    return await work(db, url);
  } catch (error) {
    throw explain(error);
  } finally {
    await db.close();
  }
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

function explain(error: unknown): unknown {
  if (isUnavailable(error)) {
    const reason = error instanceof Error && error.message !== '' ? error.message : 'no response';
    return new UserError(
      `The database does not respond (${reason}). Check that it is running and that DATABASE_URL is correct, or start \`parley dev\`.`,
      { cause: error },
    );
  }
  const code = (error as { code?: unknown }).code;
  if (code === '42P01')
    return new UserError('The database has no Parley tables yet: run `parley migrate` first.', { cause: error });
  if (code === '28P01' || code === '28000' || code === '3D000')
    return new UserError(`The database rejected the connection: ${(error as Error).message}. Check DATABASE_URL.`, {
      cause: error,
    });
  return error;
}

/** Signals and lanes of a command: running processes find events and lanes by polling, within two seconds. */
export const POLLED = { signals: { send: () => undefined }, lanes: { wake: () => undefined } };

/** Prints rows as a table, or as JSON. */
export function print(rows: readonly object[], json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return;
  }
  const [first] = rows;
  if (!first) {
    process.stdout.write('None.\n');
    return;
  }
  const names = Object.keys(first);
  const cells = rows.map(row => names.map(name => String((row as Record<string, unknown>)[name] ?? '')));
  const widths = names.map((name, column) => Math.max(name.length, ...cells.map(line => (line[column] ?? '').length)));
  for (const line of [names, ...cells])
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
}
