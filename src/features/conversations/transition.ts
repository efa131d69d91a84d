import type { ConversationStatus, PublicConversation } from './conversation.ts';

/** Patch of a conversation; undefined keeps the value. */
export interface ConversationPatch {
  readonly status?: ConversationStatus | undefined;
  /** ISO 8601, for a snoozed conversation; null: until the person writes. */
  readonly snoozedUntil?: string | null | undefined;
  /** Null: unassigned. */
  readonly assigneeId?: number | null | undefined;
}

export type TransitionState = Pick<
  PublicConversation,
  'status' | 'snoozed_until' | 'assignee_id' | 'waiting_since' | 'unread_count'
>;

const SNOOZE_IN_THE_PAST = 'Must be in the future.';
const SNOOZE_WITHOUT_STATUS = 'Only a snoozed conversation has a time: set the status to SNOOZED, or leave this out.';

/** Validates a patch; undefined: valid. @param before undefined: any conversation */
export function patchFault(
  { status, snoozedUntil }: ConversationPatch,
  before: Pick<TransitionState, 'status'> | undefined,
  nowMs: number,
): { readonly snoozedUntil: readonly string[] } | undefined {
  if (snoozedUntil == null) return undefined;
  if ((status ?? before?.status ?? 'snoozed') !== 'snoozed') return { snoozedUntil: [SNOOZE_WITHOUT_STATUS] };
  return Date.parse(snoozedUntil) > nowMs ? undefined : { snoozedUntil: [SNOOZE_IN_THE_PAST] };
}

/**
 * State of a conversation after a change by staff. Assigning it takes it from the bot; a closed conversation waits for no answer; only
 * a snoozed one has a time.
 */
export function afterPatch(
  before: TransitionState,
  { status, snoozedUntil, assigneeId }: ConversationPatch,
): TransitionState {
  const takesOver = assigneeId != null && before.status === 'pending';
  const next = status ?? (takesOver ? 'open' : before.status);
  const kept = before.status === 'snoozed' && status === undefined ? before.snoozed_until : null;
  return {
    status: next,
    snoozed_until: next === 'snoozed' ? (snoozedUntil === undefined ? kept : snoozedUntil) : null,
    assignee_id: assigneeId === undefined ? before.assignee_id : assigneeId,
    waiting_since: next === 'closed' ? null : before.waiting_since,
    unread_count: before.unread_count,
  };
}

/**
 * Status after a bot has decided on the latest message: an answered, open, unassigned conversation becomes pending, a pending one
 * without an answer opens, others keep theirs.
 */
export const afterBot = (
  { status, assignee_id }: Pick<TransitionState, 'status' | 'assignee_id'>,
  isAnswered: boolean,
): ConversationStatus => {
  if (isAnswered) return status === 'open' && assignee_id === null ? 'pending' : status;
  return status === 'pending' ? 'open' : status;
};

/** A contact on a channel, and whether a bot answered the latest message there. */
export interface BotDecision {
  readonly contactId: number;
  readonly channelId: number;
  readonly isAnswered: boolean;
}
