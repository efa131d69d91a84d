import { DAY, SECOND } from '../clock.ts';
import type { TextCache } from '../text-cache.ts';
import type { RedisConnection } from './connection.ts';

const TTL_SECONDS = (7 * DAY) / SECOND;

/**
 * A cache of texts shared by several processes, behind a cache in the memory of this one. While Redis is unavailable, only memory is used.
 * @param prefix before every key
 */
export function createRedisTextCache({ commands }: RedisConnection, prefix: string, memory: TextCache): TextCache {
  const keyOf = (digest: string): string => `${prefix}:text:${digest}`;
  return {
    async find(digest) {
      const known = await memory.find(digest);
      if (known !== undefined) return known;
      const text = await commands.get(keyOf(digest)).catch(() => null);
      if (text === null) return undefined;
      memory.save(digest, text);
      return text;
    },
    save(digest, text) {
      memory.save(digest, text);
      commands.set(keyOf(digest), text, 'EX', TTL_SECONDS).catch(() => undefined);
    },
  };
}
