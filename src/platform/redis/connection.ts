import { Redis, type RedisOptions, ReplyError } from 'ioredis';
import { MINUTE } from '../clock.ts';
import type { Log } from '../log.ts';

/**
 * An optional Redis. While it is unavailable, commands fail at once, and callers have a fallback: rate limits count in memory,
 * receivers of signals poll.
 */
export interface RedisConnection {
  /** For commands that requests wait for. */
  readonly commands: Redis;
  /** For subscriptions only. */
  readonly subscriber: Redis;
  /** Whether it is connected. */
  isReady(): boolean;
  /**
   * Whether it is connected, and has refused no write or signal for a minute: a Redis without memory, without a disk for its snapshots, that
   * has become a replica, or whose user lacks a permission, answers but does not do what it is for.
   */
  acceptsWrites(): boolean;
  /** Call with the error of each failed command that writes or signals. Logs refusals, each effect at most once a minute. */
  onFailure(error: unknown, effect: RefusalEffect): void;
  close(): Promise<void>;
}

/** What follows from a refusal, for the log. */
export type RefusalEffect = 'each process counts rate limits by itself' | 'signals between processes are delayed';

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_MS = 2_000;
/** Longer than most intervals of scrapes. A Redis at the limit of its memory refuses some writes and accepts others. */
const REFUSAL_MS = MINUTE;

/** Of every connection; time-outs of commands are added. */
export const REDIS_OPTIONS = {
  // Supported by every server and proxy; no later feature is needed.
  protocol: 2,
  lazyConnect: true,
  connectionName: 'parley',
  // Commands are neither queued nor retried: an immediate fallback is better than a late response, and points must count once.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // signal-transport.ts resubscribes.
  autoResubscribe: false,
  connectTimeout: CONNECT_TIMEOUT_MS,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, MAX_RECONNECT_MS),
} as const satisfies RedisOptions;

/**
 * Connects in the background, and reconnects when the connection is lost. Logs the beginning and the end of each outage.
 * @param url `redis://` or `rediss://` (TLS), with user, password and database number as needed
 * @param timeoutMs of a command, which normally takes 0.1 ms; after it the caller uses its fallback
 */
export function connectRedis(url: string, log: Log, timeoutMs: number): RedisConnection {
  // A connection without a response for twice as long is closed, so that further commands do not wait too.
  const options = { ...REDIS_OPTIONS, commandTimeout: timeoutMs, socketTimeout: 2 * timeoutMs };
  const commands = new Redis(url, options);
  const subscriber = new Redis(url, options);
  let isUnavailable = false;
  let isClosing = false;
  let refusedAtMs = Number.NEGATIVE_INFINITY;
  const warnedAtMs = new Map<RefusalEffect, number>();
  const onUnavailable = (error?: unknown): void => {
    if (isUnavailable || isClosing) return;
    isUnavailable = true;
    log.warn(
      { err: error },
      'Redis is unavailable: each process counts rate limits by itself, and signals between processes are delayed',
    );
  };
  commands
    .on('error', onUnavailable)
    .on('close', () => onUnavailable())
    .on('ready', () => {
      if (isUnavailable) log.info('Redis is available again');
      isUnavailable = false;
    });
  // Both connections use the same server, and `commands` reports its state.
  subscriber.on('error', () => undefined);
  for (const client of [commands, subscriber]) client.connect().catch(() => undefined);

  return {
    commands,
    subscriber,
    isReady: () => commands.status === 'ready',
    acceptsWrites: () => commands.status === 'ready' && performance.now() - refusedAtMs >= REFUSAL_MS,
    onFailure(error, effect) {
      // Failures of the connection are logged by `onUnavailable`.
      if (!(error instanceof ReplyError)) return;
      refusedAtMs = performance.now();
      if (refusedAtMs - (warnedAtMs.get(effect) ?? Number.NEGATIVE_INFINITY) < REFUSAL_MS) return;
      warnedAtMs.set(effect, refusedAtMs);
      log.warn({ err: error }, `Redis refuses a command: ${effect}`);
    },
    async close() {
      isClosing = true;
      await Promise.all([commands, subscriber].map(quit));
    },
  };
}

/** Waits for pending commands, if connected, and closes the connections. */
async function quit(client: Redis): Promise<void> {
  if (client.status === 'ready') await client.quit().catch(() => undefined);
  client.disconnect();
}
