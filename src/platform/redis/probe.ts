import { Redis, ReplyError } from 'ioredis';
import { REDIS_OPTIONS } from './connection.ts';
import { signalChannel } from './signal-transport.ts';

export interface RedisFault {
  /** `unreachable`: no connection, or no answer in time. `refused`: it answers with an error, such as WRONGPASS, OOM or READONLY. */
  readonly kind: 'unreachable' | 'refused';
  readonly message: string;
}

/**
 * Connects to a Redis once, writes a key that expires at once, and sends an empty signal.
 * @param prefix of the key and the channel
 * @param timeoutMs of a command
 * @returns undefined if all succeed
 */
export async function probeRedis(url: string, prefix: string, timeoutMs: number): Promise<RedisFault | undefined> {
  const redis = new Redis(url, { ...REDIS_OPTIONS, commandTimeout: timeoutMs, retryStrategy: () => null });
  let emitted: unknown;
  // What fails while connecting is emitted; the promise says only that the connection is closed.
  redis.on('error', error => {
    emitted ??= error;
  });
  try {
    await redis.connect();
    if (emitted === undefined) {
      await redis.set(`${prefix}:probe`, '', 'PX', 1);
      // Without a topic: nobody listens for it.
      await redis.publish(signalChannel(prefix), '');
    }
    return emitted === undefined ? undefined : faultOf(emitted);
  } catch (error) {
    return faultOf(emitted ?? error);
  } finally {
    redis.disconnect();
  }
}

const faultOf = (error: unknown): RedisFault => ({
  kind: error instanceof ReplyError ? 'refused' : 'unreachable',
  message: error instanceof Error ? error.message : String(error),
});
