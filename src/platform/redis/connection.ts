import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../log.ts';

/**
 * A Redis that may come and go. Nothing waits for it: a command fails at once while it is away, and whoever gave it has
 * something to fall back on (rate limits a count of their own, signals the polling of those who wait for them).
 */
export interface RedisConnection {
  /** Commands that a request waits for. */
  readonly commands: Redis;
  /** A connection that listens, and does nothing else. */
  readonly subscriber: Redis;
  isReady(): boolean;
  close(): Promise<void>;
}

/** An answer takes a tenth of a millisecond. Whoever waits for this long counts by himself. */
const COMMAND_TIMEOUT_MS = 250;
/** A connection on which no answer comes for this long is given up, so that the next commands do not wait as well. */
const SILENCE_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_MS = 2_000;

const OPTIONS = {
  // Every server and proxy speaks it, and nothing here needs a later one.
  protocol: 2,
  lazyConnect: true,
  connectionName: 'parley',
  // Neither queued nor repeated: an answer from memory now is better than one from Redis later, and points count once.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // What is listened to is said again by whoever listens.
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
  // Both have one server, and one of them tells of it.
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

/** Lets commands under way come to their end, where there is somebody to end them. */
async function quit(client: Redis): Promise<void> {
  if (client.status === 'ready') await client.quit().catch(() => undefined);
  client.disconnect();
}
