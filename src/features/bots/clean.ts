import type { Resources } from '../../context.ts';
import { DAY, SECOND } from '../../platform/clock.ts';
import { MAX } from './bot.ts';
import { deleteSettled } from './replies-store.ts';

/** In small batches, so that nobody waits for a lock. */
const BATCH = 1_000;
/** A day more than the longest cool-down looks back. */
const KEPT_MS = MAX.cooldownSeconds * SECOND + DAY;

/** Forgets answers of bots that nothing is decided by any more; their messages stay. */
export async function cleanBotReplies({ db, clock }: Resources): Promise<void> {
  const before = new Date(clock.now() - KEPT_MS).toISOString();
  while ((await deleteSettled(db.write, before, BATCH)) === BATCH);
}
