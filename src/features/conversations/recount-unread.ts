import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import type { Resources } from '../../schema/context.ts';
import { lockConversations, writeStates } from './change.sql.ts';
import { updatedEvent } from './fold.ts';
import { countUnread } from './state.sql.ts';

/**
 * Sets the unread count of a conversation to the number of messages after the one that was read. A concurrent message waits for the
 * lock, and is counted.
 */
export async function recountUnread(
  { db, clock, signals }: Pick<Resources, 'db' | 'clock' | 'signals'>,
  tenantId: number,
  conversationId: number,
  upToMessageId: string,
): Promise<void> {
  await db.transaction(async (trx: Db) => {
    const [before] = await lockConversations(trx, tenantId, [conversationId]);
    if (!before || before.unread_count === 0) return;
    const unread = Math.min(before.unread_count, await countUnread(trx, tenantId, conversationId, upToMessageId));
    if (unread === before.unread_count) return;
    const nowIso = new Date(clock.now()).toISOString();
    const [after] = await writeStates(trx, tenantId, [{ ...before, unread_count: unread }], nowIso);
    if (after) await append(trx, tenantId, updatedEvent(before, after));
  });
  signals.send('events');
}
