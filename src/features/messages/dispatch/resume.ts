import type { Db } from '../../../database/database.ts';
import { beginTriesAnew } from './outbox.sql.ts';

/**
 * Prepares the queue of a channel that is resumed, or connected again: messages that were tried before are retried for 24 hours from
 * their next attempt, because nothing was tried in between.
 */
export const resumeQueue = (trx: Db, tenantId: number, channelId: number): Promise<void> =>
  beginTriesAnew(trx, tenantId, channelId);
