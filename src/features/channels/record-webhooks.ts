import { LRUCache } from 'lru-cache';
import { SECOND } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { writeLastWebhook } from './health.sql.ts';

/** Shortest time between two writes for a channel, so that a busy channel costs no write for each webhook. */
const ACCURACY_MS = 10 * SECOND;
const MAX_CHANNELS = 10_000;

/** Records when the last webhook about a channel arrived. @returns a function that never rejects, because the webhook is processed by then */
export function createWebhookRecorder({ db, log, clock }: Pick<Resources, 'db' | 'log' | 'clock'>) {
  const written = new LRUCache<number, number>({ max: MAX_CHANNELS });
  return async (tenantId: number, channelIds: readonly number[], receivedAt: Date): Promise<void> => {
    const now = clock.now();
    const due = [...new Set(channelIds)].filter(id => now - (written.get(id) ?? 0) >= ACCURACY_MS);
    if (due.length === 0) return;
    for (const id of due) written.set(id, now);
    await writeLastWebhook(db.write, tenantId, due, receivedAt.toISOString()).catch((error: unknown) => {
      for (const id of due) written.delete(id);
      log.warn({ err: error, tenantId }, 'the time of the last webhook could not be stored');
    });
  };
}
