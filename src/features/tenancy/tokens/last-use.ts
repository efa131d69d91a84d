import { LRUCache } from 'lru-cache';
import type { Database } from '../../../database/database.ts';
import { type Clock, MINUTE } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { type TokenUse, writeLastUses } from './tokens.sql.ts';

/** Records the last use of tokens. */
export interface LastUseWriter {
  /** Costs a look-up in memory: nothing is written before the next flush. */
  note(use: TokenUse): void;
  /** Writes the pending uses. Never rejects. */
  flush(): Promise<void>;
}

const FLUSH_MS = MINUTE;
const MAX_TOKENS = 10_000;

/** Writes the last use of each token at most once a minute: one statement a minute for all tokens of a process. */
export function createLastUseWriter({ write }: Pick<Database, 'write'>, clock: Clock, log: Log): LastUseWriter {
  const notedAt = new LRUCache<string, number>({ max: MAX_TOKENS });
  const pending = new Map<string, TokenUse>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size === 0) return;
    const uses = [...pending.values()];
    pending.clear();
    await writeLastUses(write, uses).catch(error =>
      log.warn({ err: error }, 'the last use of tokens could not be stored'),
    );
  }

  return {
    flush,
    note(use) {
      const key = `${use.tenantId}:${use.tokenId}`;
      const now = clock.now();
      const last = notedAt.get(key);
      if (last !== undefined && now - last < MINUTE) return;
      notedAt.set(key, now);
      pending.set(key, use);
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
    },
  };
}
