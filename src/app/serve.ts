import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config.ts';
import { createDatabase } from '../database/database.ts';
import { openSecretBox } from '../database/deployment.ts';
import { pendingMigrations } from '../database/migrations.ts';
import { createPostgresTransport } from '../database/postgres-signals.ts';
import { createSessionLocks } from '../database/session-locks.ts';
import { checkSession } from '../database/session-settings.ts';
import type { StatementObserver } from '../database/statements.ts';
import { isUnavailable } from '../database/unavailable.ts';
import { createEventBus } from '../events/bus.ts';
import { createHorizon, openWriterOf } from '../events/horizon.ts';
import { adoptLog, watchOrigin } from '../events/origin.ts';
import { readReaderStatus } from '../events/set-aside.sql.ts';
import { getTotals } from '../features/messages/content/media/keeping/kept.sql.ts';
import { restartStatusWait } from '../features/messages/housekeeping.ts';
import { configuredPrices } from '../features/messages/pricing/price-table.ts';
import { createTokenVerifier } from '../features/tenancy/tokens/verifier.ts';
import { createLanes } from '../lanes/runtime.ts';
import { createCloudApiNetwork } from '../network/cloud-api/client.ts';
import type { Network } from '../network/network.ts';
import { type Clock, SECOND, systemClock } from '../platform/clock.ts';
import { KeyedBatches } from '../platform/keyed-batches.ts';
import { KeyedSemaphore } from '../platform/keyed-semaphore.ts';
import type { Log } from '../platform/log.ts';
import { createMetrics, observeHorizon, observeMedia, observeReaders, observeRedis } from '../platform/metrics.ts';
import { createPublicHttp } from '../platform/public-http.ts';
import { createMemoryRateLimits } from '../platform/rate-limits.ts';
import { createRedisRateLimits } from '../platform/redis/rate-limits.ts';
import { createRedisTransport } from '../platform/redis/signal-transport.ts';
import { createRedisTextCache } from '../platform/redis/text-cache.ts';
import { createNameResolver, type ResolveName } from '../platform/resolve-name.ts';
import { createSignals } from '../platform/signals.ts';
import { createMemoryTextCache } from '../platform/text-cache.ts';
import { UserError } from '../platform/user-error.ts';
import { VERSION } from '../platform/version.ts';
import type { Resources } from '../schema/context.ts';
import { claimMedia } from './media-marker.ts';
import { cleanFiles, openFiles } from './open-files.ts';
import { type AddRoutes, type GatewayServer, startServer } from './server.ts';
import { startWorker } from './worker.ts';

export type Role = 'all' | 'gateway' | 'worker';

export interface ServeOptions {
  readonly config: Config & { readonly databaseUrl: string; readonly secretKey: Uint8Array };
  readonly schema: GraphQLSchema;
  readonly role: Role;
  readonly log: Log;
  readonly clock?: Clock;
  /** Resolves the hosts of webhook endpoints; default: DNS. */
  readonly resolveName?: ResolveName;
  readonly onStatement?: StatementObserver;
  readonly addRoutes?: AddRoutes;
}

export interface Gateway {
  readonly server: GatewayServer;
  readonly resources: Resources;
  /** Stops within 10 s: takes no new work, finishes work in progress, then closes all connections. */
  stop(): Promise<void>;
}

/** Time for outside calls in progress at shutdown. Interrupted sends are settled by their status webhook; interrupted deliveries are repeated. */
const ANSWER_TIMEOUT_MS = 4 * SECOND;
/** Time for lanes to store the results of those calls. Rows not stored stay leased and are taken over by another process. */
const STOP_TIMEOUT_MS = 6 * SECOND;
/** Batches per tenant and kind of recipient. Sends that arrive during a write share the next one and its commit. */
const SEND_BATCHES = {
  reads: { maxSize: 100, maxRunning: 2, maxWaiting: 10_000 },
  writes: { maxSize: 100, maxRunning: 1, maxWaiting: 10_000 },
};
const SEND_CONCURRENCY_PER_TENANT = { concurrency: 2, maxWaiting: 1_000 };
/** A quarter of the connections for files. */
const UPLOADS_PER_TENANT = { concurrency: 8, maxWaiting: 200, timeoutMs: 20 * SECOND };

/** Builds the resources of a process from its configuration and starts HTTP server and worker. @throws UserError */
export async function serve(options: ServeOptions): Promise<Gateway> {
  const { config, log, role } = options;
  const clock = options.clock ?? systemClock;
  const db = createDatabase({
    url: config.databaseUrl,
    pgbouncer: config.pgbouncer,
    ...config.database,
    log,
    ...(options.onStatement && { onStatement: options.onStatement }),
  });
  const teardown: (() => Promise<void>)[] = [() => db.close()];
  const stopAll = async (): Promise<void> => {
    for (const step of teardown.reverse())
      await step().catch(error => log.warn({ err: error }, 'a component did not stop cleanly'));
  };
  try {
    await checkSchema(db.read);
    if (config.pgbouncer) for (const through of [db.read, db.write]) await checkSession(through);
    const secrets = await openSecretBox(db, { current: config.secretKey, previous: config.previousSecretKey });
    const logGeneration = await adoptLog(db);
    const metrics = createMetrics();
    // Without REDIS_URL its client is not loaded.
    const redis =
      config.redis &&
      (await import('../platform/redis/connection.ts')).connectRedis(config.redis.url, log, config.redis.timeoutMs);
    if (redis) teardown.push(() => redis.close());
    if (redis) observeRedis(metrics.registry, redis.acceptsWrites);
    const signals = createSignals(
      redis ? createRedisTransport(redis, config.redis.prefix) : createPostgresTransport(() => db.connect(), log),
    );
    teardown.push(() => signals.close());
    const sessionLocks = createSessionLocks(db.read, () => db.connect(), log);
    teardown.push(() => sessionLocks.close());
    const network: Network = createCloudApiNetwork({
      baseUrl: config.network.baseUrl,
      version: config.network.version,
      log,
      timeouts: { requestMs: config.network.requestTimeoutMs },
    });
    teardown.push(() => network.close());
    const publicHttp = createPublicHttp({
      allowed: config.webhooks.allowedRanges,
      resolveName: options.resolveName ?? createNameResolver(),
    });
    teardown.push(() => publicHttp.close());
    await claimMedia(config, db, log);
    const files = await openFiles(config);
    teardown.push(() => files.close());
    const stopCleaning = cleanFiles(files, log);
    teardown.push(async () => stopCleaning());
    const lanes = createLanes({ db: db.leases, signals, clock, log, leaseMs: config.lanes.leaseMs });
    const horizon = createHorizon(db.read, log);
    observeMedia(metrics.registry, () => getTotals(db.read));
    observeReaders(metrics.registry, () => readReaderStatus(db.read));
    observeHorizon(metrics.registry, () => openWriterOf(horizon));
    const bus = createEventBus(db, horizon, signals, metrics, log);
    const tokens = createTokenVerifier(db, signals, clock, log);
    teardown.push(() => tokens.flush());
    const resources: Resources = {
      config,
      db,
      lanes,
      signals,
      sessionLocks,
      horizon,
      logGeneration,
      bus,
      network,
      publicHttp,
      files,
      prices: await configuredPrices(config),
      limits: redis ? createRedisRateLimits(redis, config.redis.prefix) : createMemoryRateLimits(),
      sendBatches: { reads: new KeyedBatches(SEND_BATCHES.reads), writes: new KeyedBatches(SEND_BATCHES.writes) },
      sendSemaphore: new KeyedSemaphore({
        ...SEND_CONCURRENCY_PER_TENANT,
        timeoutMs: config.database.statementTimeoutMs,
      }),
      uploadSemaphore: new KeyedSemaphore(UPLOADS_PER_TENANT),
      tokens,
      texts: redis
        ? createRedisTextCache(redis, config.redis.prefix, createMemoryTextCache())
        : createMemoryTextCache(),
      secrets,
      metrics,
      log,
      clock,
    };
    await bus.start();
    teardown.push(() => bus.stop());
    teardown.push(watchOrigin(db, horizon, log));
    teardown.push(async () => {
      const timer = setTimeout(() => {
        void network.close();
        void publicHttp.close();
      }, ANSWER_TIMEOUT_MS);
      await lanes.stop(STOP_TIMEOUT_MS);
      clearTimeout(timer);
    });
    if (role === 'gateway') await restartStatusWait(resources);
    else teardown.push(await startWorker(resources, lanes));
    let ready = true;
    const server = await startServer(
      resources,
      options.schema,
      role === 'worker' ? 'health' : 'all',
      () => ready,
      options.addRoutes,
    );
    teardown.push(() => server.close());
    teardown.push(async () => {
      ready = false;
    });
    return { server, resources, stop: stopAll };
  } catch (error) {
    await stopAll();
    throw addressError(error, config) ?? error;
  }
}

/** Refuses a database whose schema is older or newer than this version. */
async function checkSchema(db: Parameters<typeof pendingMigrations>[0]): Promise<void> {
  const pending = await pendingMigrations(db).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
    throw new UserError(
      `The database does not answer: ${error instanceof Error ? error.message : String(error)}. Check DATABASE_URL.`,
      { cause: error },
    );
  });
  if (pending.length === 0) return;
  throw new UserError(
    `The database has an older schema: Parley ${VERSION} needs ${pending.length} more migration(s), from ${pending[0]} to ${pending.at(-1)}. Run \`parley migrate\` first.`,
  );
}

function addressError(error: unknown, { host, port }: Config): UserError | undefined {
  const code = (error as { code?: unknown }).code;
  if (code === 'EADDRINUSE') {
    return new UserError(
      `Port ${port} on ${host} is in use. Stop the process that listens there, or set another port: PORT=${port + 1}.`,
      { cause: error },
    );
  }
  if (code === 'EACCES')
    return new UserError(`This user has no permission to listen on port ${port}. Set PORT to a port above 1023.`, {
      cause: error,
    });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new UserError(`HOST=${host} is not an address of this machine.`, { cause: error });
  return undefined;
}
