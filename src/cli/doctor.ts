import { resolve } from 'node:path';
import { Command } from 'commander';
import { MEDIA_FAULTS, mediaOwner } from '../app/media-marker.ts';
import { type Config, loadConfig } from '../config.ts';
import type { Database } from '../database/database.ts';
import { readMediaMark } from '../database/deployment.ts';
import { pendingMigrations } from '../database/migrations.ts';
import { createWriteProbe } from '../database/readiness.ts';
import { requireOriginalLog } from '../events/origin.ts';
import { credentialsOf } from '../features/channels/credentials.ts';
import { listChannels } from '../features/channels/store.ts';
import { listAccounts } from '../features/tenancy/account/account.sql.ts';
import { monthOf } from '../features/tenancy/usage/month.ts';
import { createCloudApiNetwork } from '../network/cloud-api/client.ts';
import { SECOND, systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { connectRedis } from '../platform/redis/connection.ts';
import { UserError } from '../platform/user-error.ts';
import { print, secretBoxOf, withDatabase } from './database.ts';
import { readServerFacts, type ServerFacts, tablesWithoutNextMonth } from './doctor.sql.ts';

/** One thing that a deployment needs. `advice` says what to do unless it is fine. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly finding: string;
  readonly advice: string;
}

const ok = (check: string, finding: string): Finding => ({ check, state: 'ok', finding, advice: '' });
const warning = (check: string, finding: string, advice: string): Finding => ({
  check,
  state: 'warning',
  finding,
  advice,
});
const failed = (check: string, finding: string, advice: string): Finding => ({
  check,
  state: 'failed',
  finding,
  advice,
});

const MIN_POSTGRES = 150_000;
const MAX_CLOCK_SKEW_MS = SECOND;

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check a deployment: database, migrations, key, clock, partitions, directory of files, Redis, and the credentials of each channel',
    )
    .option('--json', 'print JSON', false)
    .option('--no-network', 'do not call the messaging network')
    .action(async ({ json, network }: { json: boolean; network: boolean }) => {
      const findings = await examine(loadConfig(), network);
      print(findings, json);
      if (findings.some(({ state }) => state === 'failed'))
        throw new UserError('Something has to be repaired: see above.');
    });
}

const SHOWN_NAMES = 3;

/** All names if they are few, otherwise the first and the last: the list is a cell of a table. */
const namesOf = (names: readonly string[]): string =>
  names.length <= SHOWN_NAMES ? names.join(', ') : `${names.length}, ${names[0]} to ${names.at(-1)}`;

async function examine(config: Config, callsNetwork: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
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
    findings.push(await examineMedia(config, db));
    findings.push(...(await examineKeyAndChannels(config, db, callsNetwork)));
  });
  // What does not need the database is examined also when it is away.
  await examineDatabase.catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    findings.push(failed('database', error.message, 'Start PostgreSQL, or set DATABASE_URL to a server that runs.'));
  });
  findings.push(await examineRedis(config), examineWebhookAddress(config));
  return findings;
}

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
          'Raise max_connections, lower PARLEY_DATABASE_POOL, or use PgBouncer (docs/operations.md).',
        ),
    Math.abs(skewMs) <= MAX_CLOCK_SKEW_MS
      ? ok('clock', `${Math.abs(skewMs)} ms from the database's`)
      : failed(
          'clock',
          `${skewMs} ms behind the database's`,
          'Synchronise both clocks (NTP): leases and windows depend on them.',
        ),
  ];
}

async function examineWrites(db: Database): Promise<Finding> {
  const reason = await createWriteProbe(db)();
  return reason === undefined
    ? ok('writes', 'the database accepts writes')
    : failed('writes', reason, 'Let DATABASE_URL lead to the primary, and check its disk.');
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

async function examineMedia({ media }: Config, { write }: Database): Promise<Finding> {
  if (media.s3) return ok('files', `in the bucket ${media.s3.bucket}`);
  const directory = resolve(media.directory);
  const owner = await mediaOwner(directory, await readMediaMark(write));
  switch (owner) {
    case 'ours':
      return ok('files', `${directory} is the directory of this deployment`);
    case 'new':
      return warning('files', `${directory} is not marked yet`, 'Start `parley serve` once: it marks its directory.');
    case 'missing':
    case 'foreign':
      return failed('files', `${directory} ${MEDIA_FAULTS[owner].finding}`, MEDIA_FAULTS[owner].advice);
  }
}

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

async function examineKeyAndChannels(config: Config, db: Database, callsNetwork: boolean): Promise<Finding[]> {
  const secrets = await secretBoxOf(config, db).catch((error: unknown) => {
    if (error instanceof UserError) return error;
    throw error;
  });
  if (secrets instanceof UserError)
    return [failed('secret key', secrets.message, 'Set the PARLEY_SECRET_KEY of this database.')];
  const findings = [ok('secret key', 'opens what this database has sealed')];
  const network = createCloudApiNetwork({ ...config.network, log: createLog('silent') });
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
              'Mend the cause, then connect it again or resume it.',
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
                      'Connect it again with a new access token, or check the way to the network.',
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

async function examineRedis({ redis }: Config): Promise<Finding> {
  if (!redis) return ok('Redis', 'not configured: rate limits count per process, signals go through PostgreSQL');
  const connection = connectRedis(redis.url, createLog('silent'), redis.timeoutMs);
  try {
    await connection.commands.ping();
    return ok('Redis', 'answers');
  } catch (error) {
    return failed(
      'Redis',
      error instanceof Error ? error.message : String(error),
      'Check REDIS_URL; meanwhile limits count per process.',
    );
  } finally {
    await connection.close();
  }
}

const examineWebhookAddress = ({ publicUrl }: Config): Finding =>
  publicUrl?.startsWith('https://')
    ? ok('public address', `the network posts to ${publicUrl}/network/cloud-api/webhook`)
    : warning(
        'public address',
        publicUrl ?? 'PARLEY_PUBLIC_URL is not set',
        'Set PARLEY_PUBLIC_URL to the https address under which the network and browsers reach this gateway.',
      );
