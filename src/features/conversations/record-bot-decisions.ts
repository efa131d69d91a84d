import type { Db } from '../../database/database.ts';
import { append } from '../../events/append.ts';
import { lockForBots, writeStates } from './change.sql.ts';
import { updatedEvent } from './fold.ts';
import { afterBot, type BotDecision } from './transition.ts';

/**
 * Makes conversations pending whose latest message a bot answered, and opens those that no bot answered, with
 * `conversation.updated`. Lock order: after contacts, before what bots write.
 */
export async function recordBotDecisions(
  trx: Db,
  tenantId: number,
  decisions: readonly BotDecision[],
  nowIso: string,
): Promise<void> {
  if (decisions.length === 0) return;
  const latest = [...new Map(decisions.map(one => [`${one.contactId} ${one.channelId}`, one])).values()];
  const locked = await lockForBots(trx, tenantId, latest);
  if (locked.length === 0) return;
  const states = locked.map(row => ({ ...row, status: afterBot(row, row.is_answered) }));
  const written = new Map((await writeStates(trx, tenantId, states, nowIso)).map(row => [row.id, row]));
  await append(
    trx,
    tenantId,
    locked.flatMap(({ is_answered: _answered, ...before }) => {
      const after = written.get(before.id);
      return after ? updatedEvent(before, after) : [];
    }),
  );
}
