import type { GraphQLSchema } from 'graphql';
import type { Config } from './config.ts';
import type { Resources } from './context.ts';
import { adoptLog } from './features/events/adopt.ts';
import { createEventBus } from './features/events/bus.ts';
import { createTokenVerifier } from './features/tokens/verifier.ts';
import { isUnavailable } from './graphql/errors.ts';
import { createCloudApiNetwork } from './network/cloud-api/client.ts';
import type { Network } from './network/network.ts';
import { type Clock, SECOND, systemClock } from './platform/clock.ts';
import { createSecretBox } from './platform/crypto.ts';
import { createDatabase } from './platform/database.ts';
import { createJobs } from './platform/jobs.ts';
import type { Log } from './platform/log.ts';
import { createMetrics, observeRedis } from './platform/metrics.ts';
import { migrationStates } from './platform/migrations.ts';
import { postgresWire } from './platform/postgres-wire.ts';
import { createPublicHttp } from './platform/public-http.ts';
import { createMemoryRateLimits } from './platform/rate-limits.ts';
import { connectRedis } from './platform/redis/connection.ts';
import { createRedisRateLimits } from './platform/redis/rate-limits.ts';
import { redisWire } from './platform/redis/wire.ts';
import { createNameResolver, type ResolveName } from './platform/resolve-name.ts';
import { createSignals } from './platform/signals.ts';
import type { StatementObserver } from './platform/statements.ts';
import { UserError } from './platform/user-error.ts';
import { type GatewayServer, startServer } from './server.ts';
import { QUEUE_NAMES, startWorker } from './worker.ts';

export type Role = 'all' | 'gateway' | 'worker';

export interface ServeOptions {
  readonly config: Config & { readonly databaseUrl: string; readonly secretKey: Uint8Array };
  readonly schema: GraphQLSchema;
  readonly role: Role;
  readonly log: Log;
  readonly clock?: Clock;
  /** Looks up the hosts of webhooks; the name system where nothing is said. */
  readonly resolveName?: ResolveName;
  readonly onStatement?: StatementObserver;
}

export interface Gateway {
  readonly server: GatewayServer;
  readonly resources: Resources;
  /** Stops within 10 s: no new work, what is under way comes to its end, then the connections close. */
  stop(): Promise<void>;
}

/** Lanes get this long for answers; then the connections are cut. What was under way to the network waits for its status, what was to an endpoint is delivered again. */
const ANSWER_TIMEOUT_MS = 4 * SECOND;
/** Lanes get this long to write down what came of it. What does not make it is leased and will be sent by the next process. */
const STOP_TIMEOUT_MS = 6 * SECOND;

/** Makes what a process needs, once: config → resources → HTTP server and worker. @throws UserError */
export async function serve(options: ServeOptions): Promise<Gateway> {
  const { config, log, role } = options;
  const clock = options.clock ?? systemClock;
  const db = createDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    readers: config.databaseReaders,
    log,
    ...(options.onStatement && { onStatement: options.onStatement }),
  });
  const undo: (() => Promise<void>)[] = [() => db.close()];
  const stopAll = async (): Promise<void> => {
    for (const step of undo.reverse())
      await step().catch(error => log.warn({ err: error }, 'a part did not stop cleanly'));
  };
  try {
    await checkSchema(db.read);
    await adoptLog(db, log);
    const metrics = createMetrics();
    const redis = config.redis && connectRedis(config.redis.url, log);
    if (redis) undo.push(() => redis.close());
    if (redis) observeRedis(metrics.registry, redis.isReady);
    const signals = createSignals(
      redis ? redisWire(redis, config.redis.prefix) : postgresWire(() => db.connect(), log),
    );
    undo.push(() => signals.close());
    const network: Network = createCloudApiNetwork({
      baseUrl: config.network.baseUrl,
      version: config.network.version,
      log,
      timeouts: { requestMs: config.network.requestTimeoutMs },
    });
    undo.push(() => network.close());
    const publicHttp = createPublicHttp({
      allowed: config.webhooks.allowedRanges,
      resolveName: options.resolveName ?? createNameResolver(),
    });
    undo.push(() => publicHttp.close());
    const jobs = await createJobs(config.databaseUrl, QUEUE_NAMES, signals, log);
    const bus = createEventBus(db, signals, metrics, log);
    const resources: Resources = {
      config,
      db,
      jobs,
      signals,
      bus,
      network,
      publicHttp,
      limits: redis ? createRedisRateLimits(redis, config.redis.prefix) : createMemoryRateLimits(),
      tokens: createTokenVerifier(db, clock, log),
      secrets: createSecretBox(config.secretKey),
      metrics,
      log,
      clock,
    };
    await bus.start();
    undo.push(() => bus.stop());
    undo.push(async () => {
      const impatient = setTimeout(() => {
        void network.close();
        void publicHttp.close();
      }, ANSWER_TIMEOUT_MS);
      await jobs.stop(STOP_TIMEOUT_MS);
      clearTimeout(impatient);
    });
    if (role !== 'gateway') {
      const stopWorker = await startWorker(resources, jobs);
      undo.push(stopWorker);
    }
    let ready = true;
    const server = await startServer(resources, options.schema, role === 'worker' ? 'health' : 'all', () => ready);
    undo.push(() => server.close());
    undo.push(async () => {
      ready = false;
    });
    return { server, resources, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw addressError(error, config) ?? error;
  }
}

/** A database that is older than the program would fail at the first statement: say so before. */
async function checkSchema(db: Parameters<typeof migrationStates>[0]): Promise<void> {
  const states = await migrationStates(db).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
    throw new UserError(
      `The database does not answer: ${error instanceof Error ? error.message : String(error)}. Check DATABASE_URL.`,
      { cause: error },
    );
  });
  const pending = states.filter(state => state.appliedAt === undefined);
  if (pending.length === 0) return;
  throw new UserError(
    `The database lacks ${pending.length} migration(s), from ${pending[0]?.name}. Run \`parley migrate\` first.`,
  );
}

function addressError(error: unknown, { host, port }: Config): UserError | undefined {
  const code = (error as { code?: unknown }).code;
  if (code === 'EADDRINUSE') {
    return new UserError(
      `Port ${port} on ${host} is in use. Stop what listens there, or choose another with PORT=${port + 1}.`,
      { cause: error },
    );
  }
  if (code === 'EACCES')
    return new UserError(`Port ${port} may not be opened by this user. Choose one above 1023 with PORT.`, {
      cause: error,
    });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UserError(`HOST=${host} is no address of this machine.`, { cause: error });
  return undefined;
}
