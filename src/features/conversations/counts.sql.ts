import type { Db } from '../../database/database.ts';
import type { ListStatement } from '../../database/list.ts';
import { raw } from '../../database/statements.ts';

export interface ConversationCounts {
  readonly open: number;
  readonly pending: number;
  readonly snoozed: number;
  readonly closed: number;
  /** Open conversations without an assignee. */
  readonly unassigned: number;
  /** Open ones that the caller has. */
  readonly mine: number;
  readonly unread_conversations: number;
  readonly unread_messages: number;
}

/** Counts that take more than reading an index: made only where they are selected. */
export interface WantedCounts {
  /** Closed ones are most: counting them reads all of them. */
  readonly closed: boolean;
  /** The sum reads the rows of all unread conversations. */
  readonly unreadMessages: boolean;
}

/**
 * Counts the conversations of a list in one statement. The index `conversations_counted` has all that is counted but the number of
 * unread messages, which is in no index because it changes with each message. Of the closed ones, which are most, it reads those
 * that are unread.
 * @param staffId the caller; null: no staff member
 */
export async function countConversations(
  db: Db,
  { count }: Pick<ListStatement, 'count'>,
  staffId: number | null,
  { closed, unreadMessages }: WantedCounts,
): Promise<ConversationCounts> {
  const from = count.text.slice(count.text.indexOf(' from '));
  const unread = unreadMessages ? `(select coalesce(sum(v.unread_count), 0)::int${from} and v.is_unread)` : '0';
  const closedOnes = closed ? `(select count(*)::int${from} and v.status = 'closed')` : '0';
  const text = `select x.open, x.pending, x.snoozed, x.unassigned, x.mine, ${closedOnes} as closed, ${unread} as unread_messages,
      x.unread + (select count(*)::int${from} and v.status = 'closed' and v.is_unread) as unread_conversations
    from (select count(*) filter (where v.status = 'open')::int as open, count(*) filter (where v.status = 'pending')::int as pending,
        count(*) filter (where v.status = 'snoozed')::int as snoozed,
        count(*) filter (where v.status = 'open' and v.assignee_id is null)::int as unassigned,
        count(*) filter (where v.status = 'open' and v.assignee_id = $${count.values.length + 1}::bigint)::int as mine,
        count(*) filter (where v.is_unread)::int as unread
      ${from} and v.status = any('{open,pending,snoozed}')) x`;
  const { rows } = await db.executeQuery(raw<ConversationCounts>(text, [...count.values, staffId]));
  return rows[0] as ConversationCounts;
}
