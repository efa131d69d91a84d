import type { NewEvent } from '../../core/events.ts';
import type { Db } from '../../database/database.ts';
import { type ConversationBefore, type PublicConversation, previousState } from './conversation.ts';
import { conversationsOf } from './state.sql.ts';

/** A conversation that a merge of contacts folded into another one on its channel. */
export interface FoldedConversation {
  readonly former: number;
  readonly kept: number;
}

/**
 * Reads the conversations of contacts before they are merged or separated again. The conversations are locked.
 * @returns a function of the contacts that there are afterwards: events of the conversations that are restored, that are another
 *   contact's now, and that got or lost messages. A folded conversation has an event of its own beside that of the kept one, which is
 *   found by its id and by its assignee
 */
export async function readBeforeRegrouping(
  trx: Db,
  tenantId: number,
  contactIds: readonly number[],
): Promise<(contactIds: readonly number[], folded?: readonly FoldedConversation[]) => Promise<NewEvent[]>> {
  const before = await conversationsOf(trx, tenantId, contactIds);
  return async (ids, folded = []) => regroupedEvents(before, await conversationsOf(trx, tenantId, ids), folded);
}

function regroupedEvents(
  before: readonly PublicConversation[],
  after: readonly PublicConversation[],
  folded: readonly FoldedConversation[],
): NewEvent[] {
  const former = new Map(before.map(row => [row.id, row]));
  const current = new Map(after.map(row => [row.id, row]));
  const gone = folded.flatMap((fold): NewEvent[] => {
    const [row, kept] = [former.get(fold.former), current.get(fold.kept)];
    if (!row || !kept) return [];
    return [{ ...updated(kept, { id: row.id, ...changesOf(row, kept) }), conversationId: row.id }];
  });
  const keptIds = new Set(folded.map(({ kept }) => kept));
  const rest = after.flatMap((row): NewEvent[] => {
    const known = former.get(row.id);
    if (!known) return [{ type: 'conversation.created', payload: { conversation: row } }];
    const previous = changesOf(known, row);
    const isChanged =
      keptIds.has(row.id) || Object.keys(previous).length > 0 || known.last_message_id !== row.last_message_id;
    return isChanged ? [updated(row, previous)] : [];
  });
  return [...gone, ...rest];
}

const updated = (conversation: PublicConversation, previous: ConversationBefore) =>
  ({ type: 'conversation.updated', payload: { conversation, previous } }) satisfies NewEvent;

const changesOf = (before: PublicConversation, after: PublicConversation): ConversationBefore => ({
  ...(before.contact_id !== after.contact_id && { contact_id: before.contact_id }),
  ...previousState(before, after),
});
