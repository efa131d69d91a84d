import type { LogReader } from '../../events/readers.ts';
import { DAY, SECOND } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { BOT_LIMITS } from './bot.ts';
import { areAnyLeftToBots, hasBots, queueReceived } from './reply/inbox.sql.ts';
import { deleteSettled } from './reply/replies.sql.ts';

/** The queue of tenants with messages to decide on or replies to send; one lane per tenant. */
export const BOTS = 'bots';

/** Queues each inbound message for the bots once. */
export function createBotReader(): LogReader {
  // Examining the log in each round while there are no bots would cost 3 % of the database's work for a message.
  let mayBeLeft = true;
  return {
    name: 'bots',
    types: new Set(['message.received']),
    pauseMs: 50,
    async isNeeded(trx, after) {
      mayBeLeft = (await hasBots(trx)) || (mayBeLeft && (await areAnyLeftToBots(trx, after)));
      return mayBeLeft;
    },
    async consume(trx, range) {
      const tenantIds = await queueReceived(trx, range);
      return tenantIds.map(tenantId => ({ queue: BOTS, key: String(tenantId) }));
    },
  };
}

/** Rows deleted per statement, so that locks are held for a short time. */
const BATCH = 1_000;
/** One day more than the longest cool-down. */
const RETENTION_MS = BOT_LIMITS.cooldownSeconds * SECOND + DAY;

/** Deletes replies that no cool-down depends on any more. Their messages stay. */
export async function cleanBotReplies({ db, clock }: Resources): Promise<void> {
  const before = new Date(clock.now() - RETENTION_MS).toISOString();
  while ((await deleteSettled(db.write, before, BATCH)) === BATCH);
}
