import { setTimeout as sleep } from 'node:timers/promises';
import { invalid } from '../../../core/errors.ts';
import { tenantOf } from '../../../core/principal.ts';
import { SECOND } from '../../../platform/clock.ts';
import { closable } from '../../../platform/closable.ts';
import type { Context } from '../../../schema/context.ts';
import { resolveConversation } from '../state.sql.ts';
import { listViewers } from './presence.sql.ts';
import { type ConversationPresence, presenceTopic } from './presence.ts';
import { leaveConversation } from './set-presence.ts';

/** Shortest time between two values. */
const PAUSE_MS = SECOND;
/** A signal may be lost: the viewers are read at least this often. */
const POLL_MS = 15 * SECOND;

/**
 * Yields who has a conversation open, then each change, at most one a second. When it ends, the session of the caller has left the
 * conversation.
 * @throws VALIDATION_ERROR for a conversation that does not exist
 */
export async function followPresence(context: Context, id: number): Promise<AsyncGenerator<ConversationPresence>> {
  const conversation = await resolveConversation(context.db.read, tenantOf(context), id);
  if (!conversation) throw invalid({ conversationId: ['There is no conversation with this id.'] });
  const end = new AbortController();
  return closable(presences(context, conversation.id, end.signal), () => end.abort());
}

async function* presences(
  context: Context,
  conversationId: number,
  signal: AbortSignal,
): AsyncGenerator<ConversationPresence> {
  const tenantId = tenantOf(context);
  let isChanged = true;
  let wake = (): void => undefined;
  const off = context.signals.on(presenceTopic(tenantId, conversationId), () => {
    isChanged = true;
    wake();
  });
  const ended = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }));
  const pause = async (ms: number): Promise<void> => {
    const timer = new AbortController();
    // Rejects when it is aborted, which is what the next line does.
    const passed = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([passed, ended, ...(ms > PAUSE_MS ? [new Promise<void>(resolve => (wake = resolve))] : [])]);
    timer.abort();
  };
  let shown = '';
  try {
    while (!signal.aborted) {
      isChanged = false;
      const rows = await listViewers(context.db.read, tenantId, conversationId);
      const viewers = rows.map(row => ({ staffId: row.staff_id, isTyping: row.is_typing }));
      const text = JSON.stringify(viewers);
      if (text !== shown) yield { conversationId, viewers };
      shown = text;
      await pause(PAUSE_MS);
      const restMs = Math.min(POLL_MS, ...rows.map(row => row.lasts_ms)) - PAUSE_MS;
      if (!isChanged && restMs > 0) await pause(PAUSE_MS + restMs);
    }
  } finally {
    off();
    await leaveConversation(context, conversationId);
  }
}
