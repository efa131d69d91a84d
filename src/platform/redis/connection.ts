import { Redis, type RedisOptions } from 'ioredis';
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
  isReady(): boolean;
  close(): Promise<void>;
}

/** Timeout of a command, which normally takes 0.1 ms. After it the caller uses its fallback. */
const COMMAND_TIMEOUT_MS = 250;
/** A connection without a response for this long is closed, so that further commands do not wait too. */
const SILENCE_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_MS = 2_000;

const OPTIONS = {
  // Supported by every server and proxy; no later feature is needed.
  protocol: 2,
  lazyConnect: true,
  connectionName: 'parley',
  // Neither queued nor retried: an immediate answer from memory is better than a late one, and points must count once.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // The wire subscribes again itself.
  autoResubscribe: false,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SILENCE_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  keepAlive: 10_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, MAX_RECONNECT_MS),
} as const satisfies RedisOptions;

/**
 * Connects in the background, now and whenever the connection breaks. An outage is two lines of the log, its beginning and its end.
 * @param url `redis://` or `rediss://` (TLS), with user, password and database number as needed
 */
export function connectRedis(url: string, log: Log): RedisConnection {
  const commands = new Redis(url, OPTIONS);
  const subscriber = new Redis(url, OPTIONS);
  let isAway = false;
  let isClosing = false;
  const away = (error?: unknown): void => {
    if (isAway || isClosing) return;
    isAway = true;
    log.warn({ err: error }, 'Redis is away: rate limits are counted by each process, signals between processes wait');
  };
  commands
    .on('error', away)
    .on('close', () => away())
    .on('ready', () => {
      if (isAway) log.info('Redis is there again');
      isAway = false;
    });
  // Both connections have the same server: one of them reports its state.
  subscriber.on('error', () => undefined);
  for (const client of [commands, subscriber]) client.connect().catch(() => undefined);

  return {
    commands,
    subscriber,
    isReady: () => commands.status === 'ready',
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
