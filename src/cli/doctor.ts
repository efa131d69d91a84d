import { Command } from 'commander';
import { BUCKET_ADVICE, kindOf, mediaFault, mediaOwner, placeOf } from '../app/media-marker.ts';
import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { readMediaMark } from '../database/deployment.ts';
import { pendingMigrations } from '../database/migrations.ts';
import { createWriteProbe } from '../database/readiness.ts';
import { requireOriginalLog } from '../events/origin.ts';
import { readReaderStatus } from '../events/set-aside.sql.ts';
import { credentialsOf } from '../features/channels/credentials.ts';
import { listChannels } from '../features/channels/store.ts';
import { listAccounts } from '../features/tenancy/account/account.sql.ts';
import { monthOf } from '../features/tenancy/usage/usage.ts';
import { createCloudApiNetwork } from '../network/cloud-api/client.ts';
import { SECOND, systemClock } from '../platform/clock.ts';
import { FileStoreError } from '../platform/files/file-store.ts';
import { createLog } from '../platform/log.ts';
import { probeRedis } from '../platform/redis/probe.ts';
import { UserError } from '../platform/user-error.ts';
import { DEV_DIRECTORY, readFacts, secretBoxOf, withDatabase } from './database.ts';
import { readServerFacts, type ServerFacts, tablesWithoutNextMonth } from './doctor.sql.ts';
import { examineWebhookAddress } from './doctor-webhook.ts';
import { type Finding, failed, ok, printFindings, warning } from './findings.ts';
import { secretOf } from './option-values.ts';
import { print } from './print.ts';

const MIN_POSTGRES = 150_000;
const MAX_CLOCK_SKEW_MS = SECOND;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check a deployment: database, migrations, key, clock, partitions, directory of files, Redis, the credentials of each channel, and the webhook address',
    )
    .option('--json', 'print JSON', false)
    .option('--no-network', 'call neither the messaging network nor the public address')
    .option(
      '--verify-token <token>',
      'verify token of a channel, or @file: tests the verification of the webhook address',
    )
    .action(async ({ json, ...options }: Options & { readonly json: boolean }) => {
      const findings = await examine(loadConfig(), options);
      if (json) print(findings, true);
      else printFindings(findings, process.stdout);
      if (findings.some(({ state }) => state === 'failed')) throw new UserError('Some checks failed: see above.');
    });
}

const SHOWN_NAMES = 3;

/** All names if they are few, otherwise the first and the last: the list is a cell of a table. */
const namesOf = (names: readonly string[]): string =>
  names.length <= SHOWN_NAMES ? names.join(', ') : `${names.length}, ${names[0]} to ${names.at(-1)}`;

interface Options {
  readonly network: boolean;
  readonly verifyToken?: string;
}

async function examine(config: Config, { network: callsNetwork, verifyToken }: Options): Promise<Finding[]> {
  const findings: Finding[] = [];
  // In the directory of a development gateway, the network is its emulator, as for `channel connect`.
  const dev = config.databaseUrl === undefined ? await readFacts(DEV_DIRECTORY) : undefined;
  const examineDatabase = withDatabase(config, async db => {
    const before = systemClock.now();
    const facts = await readServerFacts(db.write);
    findings.push(...examineServer(config, facts, (before + systemClock.now()) / 2));
    const pending = await pendingMigrations(db.read);
    if (pending.length > 0) {
      findings.push(failed('migrations', `missing: ${namesOf(pending)}`, 'Run `parley migrate`.'));
      return;
    }
    findings.push(ok('migrations', 'up to date'));
    findings.push(await examineWrites(db), await examineOrigin(db), await examinePartitions(db));
    findings.push(await examineReaders(db), await examineMedia(config, db));
    findings.push(...(await examineKeyAndChannels(config, db, callsNetwork, dev?.emulatorUrl)));
  });
  // Checks without a database run even if the database is unavailable.
  await examineDatabase.catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    findings.push(failed('database', error.message, adviceFor(error)));
  });
  const webhook = {
    publicUrl: config.publicUrl,
    dev,
    verifyToken: verifyToken === undefined ? undefined : await secretOf(verifyToken),
    timeoutMs: callsNetwork ? config.network.requestTimeoutMs : undefined,
  };
  findings.push(await examineRedis(config), ...(await examineWebhookAddress(webhook)));
  return findings;
}

const MORE_CONNECTIONS = 'Raise max_connections, lower PARLEY_DATABASE_POOL, or use PgBouncer (docs/operations.md).';
const TOO_MANY_CONNECTIONS = '53300';

const adviceFor = ({ cause }: UserError): string =>
  (cause as { readonly code?: unknown } | undefined)?.code === TOO_MANY_CONNECTIONS
    ? MORE_CONNECTIONS
    : 'Start PostgreSQL, or set DATABASE_URL to a server that runs.';

function examineServer({ database }: Config, facts: ServerFacts, processMs: number): Finding[] {
  const needed = database.poolSize + database.readers + database.leaseConnections;
  const free = facts.max_connections - facts.connections;
  const skewMs = Math.round(facts.now_ms - processMs);
  return [
    facts.version_num >= MIN_POSTGRES
      ? ok('database', `PostgreSQL ${facts.version}`)
      : failed('database', `PostgreSQL ${facts.version}`, 'Upgrade to PostgreSQL 15 or later.'),
    free >= needed
      ? ok('connections', `${free} of ${facts.max_connections} free; a process opens up to ${needed}`)
      : warning(
          'connections',
          `${free} of ${facts.max_connections} free; a process opens up to ${needed}`,
          MORE_CONNECTIONS,
        ),
    Math.abs(skewMs) <= MAX_CLOCK_SKEW_MS
      ? ok('clock', `${Math.abs(skewMs)} ms from the database's`)
      : failed(
          'clock',
          `${Math.abs(skewMs)} ms ${skewMs > 0 ? 'behind' : 'ahead of'} the database's`,
          'Synchronise both clocks (NTP): leases and windows depend on them.',
        ),
  ];
}

async function examineWrites(db: Database): Promise<Finding> {
  const reason = await createWriteProbe(db)();
  return reason === undefined
    ? ok('writes', 'the database accepts writes')
    : failed('writes', reason, 'Set DATABASE_URL to the primary, and check its disk.');
}

async function examineOrigin(db: Database): Promise<Finding> {
  try {
    await requireOriginalLog(db);
    return ok('event log', 'continues in this database');
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return failed('event log', error.message, 'Run `parley restore-log`.');
  }
}

/** Readers are woken every 10 seconds at the latest. */
const MAX_READER_LAG_SECONDS = 60;

async function examineReaders(db: Database): Promise<Finding> {
  const readers = await readReaderStatus(db.read);
  const setAside = readers.filter(({ set_aside: count }) => count > 0);
  const late = readers.filter(({ lag_seconds: lag }) => lag > MAX_READER_LAG_SECONDS);
  if (setAside.length > 0)
    return failed(
      'log readers',
      setAside.map(({ name, set_aside: count }) => `events that ${name} could not consume: ${count}`).join('; '),
      'See `parley readers`; fix the cause, then run `parley readers retry`.',
    );
  return late.length > 0
    ? warning(
        'log readers',
        late.map(({ name, lag_seconds: lag }) => `${name} is ${Math.round(lag)} s behind`).join('; '),
        'Start a worker. If one runs, its log says why a reader of the event log failed.',
      )
    : ok('log readers', 'have consumed the event log');
}

async function examineMedia({ media }: Config, { write }: Database): Promise<Finding> {
  const [kind, place] = [kindOf(media), placeOf(media)];
  const mark = await readMediaMark(write, kind);
  const owner = await mediaOwner(media, mark).catch((error: unknown) => {
    if (error instanceof FileStoreError) return error;
    throw error;
  });
  if (owner instanceof FileStoreError)
    return failed('files', `${place} does not answer: ${owner.message}`, media.s3 ? BUCKET_ADVICE : DIRECTORY_ADVICE);
  switch (owner) {
    case 'ours': {
      const fault = await writeFault(media);
      return fault
        ? failed('files', `${place} cannot be written: ${fault.message}`, BUCKET_ADVICE)
        : ok('files', `${place} is the ${kind} of this deployment`);
    }
    case 'new':
      return warning('files', `${place} is not marked yet`, `Start \`parley serve\` once: it marks its ${kind}.`);
    case 'missing':
    case 'foreign': {
      const { finding, advice } = mediaFault(media, owner);
      return failed('files', `${place} ${finding}`, advice);
    }
  }
}

/** Tries to write to a bucket. Not to a directory: files of the user who runs this command could be unreadable for the gateway. */
async function writeFault({ s3 }: Config['media']): Promise<FileStoreError | undefined> {
  if (!s3) return undefined;
  const { probeWrites } = await import('../platform/files/s3-store.ts');
  return probeWrites(s3).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof FileStoreError) return error;
      throw error;
    },
  );
}

const DIRECTORY_ADVICE = 'Set PARLEY_MEDIA_DIR to a directory that this user can read and write.';

async function examinePartitions(db: Database): Promise<Finding> {
  const missing = await tablesWithoutNextMonth(db.read);
  return missing.length === 0
    ? ok('partitions', 'exist for the next month')
    : warning(
        'partitions',
        `none for the next month: ${missing.join(', ')}`,
        'Start `parley serve` or a worker: it creates them.',
      );
}

async function examineKeyAndChannels(
  config: Config,
  db: Database,
  callsNetwork: boolean,
  emulatorUrl: string | undefined,
): Promise<Finding[]> {
  const secrets = await secretBoxOf(config, db).catch((error: unknown) => {
    if (error instanceof UserError) return error;
    throw error;
  });
  if (secrets instanceof UserError)
    return [failed('secret key', secrets.message, 'Set the PARLEY_SECRET_KEY of this database.')];
  const findings = [ok('secret key', 'decrypts the secrets of this database')];
  const baseUrl = emulatorUrl ?? config.network.baseUrl;
  const network = createCloudApiNetwork({ ...config.network, baseUrl, log: createLog('silent') });
  try {
    const tenants = await listAccounts(db.read, monthOf(systemClock.now()));
    if (tenants.length === 0) findings.push(warning('tenants', 'none', 'Create one: `parley tenant create <slug>`.'));
    for (const { id, slug } of tenants) {
      const channels = (await listChannels(db.read, id)).filter(({ status }) => status !== 'disconnected');
      if (channels.length === 0)
        findings.push(
          warning(`channels of ${slug}`, 'none', `Connect one: \`parley channel connect --tenant ${slug} …\`.`),
        );
      for (const channel of channels) {
        const check = `channel ${channel.id} of ${slug}`;
        if (channel.status !== 'active')
          findings.push(
            warning(
              check,
              `${channel.status}: ${channel.status_reason ?? 'no reason given'}`,
              'Fix the cause, then connect it again or resume it.',
            ),
          );
        else if (callsNetwork) {
          const credentials = await credentialsOf({ db, secrets }, id, channel.id);
          findings.push(
            credentials === undefined
              ? failed(check, 'has no credentials', 'Connect it again.')
              : await network.phoneNumber(credentials).then(
                  number => ok(check, `${number.displayPhoneNumber} answers`),
                  (error: unknown) =>
                    failed(
                      check,
                      error instanceof Error ? error.message : String(error),
                      'Connect it again with a new access token, or check the connection to the network.',
                    ),
                ),
          );
        }
      }
    }
  } finally {
    await network.close();
  }
  return findings;
}

const WITHOUT_REDIS = 'Until then, limits count per process.';

async function examineRedis({ redis }: Config): Promise<Finding> {
  if (!redis) return ok('Redis', 'not configured: rate limits count per process, signals go through PostgreSQL');
  const fault = await probeRedis(redis.url, redis.prefix, redis.timeoutMs);
  if (!fault) return ok('Redis', 'answers, and accepts writes and signals');
  const { host } = new URL(redis.url);
  return fault.kind === 'refused'
    ? failed('Redis', `refused at ${host}: ${fault.message}`, `Correct that, or REDIS_URL. ${WITHOUT_REDIS}`)
    : failed(
        'Redis',
        `does not answer at ${host}: ${fault.message}`,
        `Start it, or correct REDIS_URL. ${WITHOUT_REDIS}`,
      );
}
