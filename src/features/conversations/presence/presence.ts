import { SECOND } from '../../../platform/clock.ts';

/** Whether a staff member has a page open; `away`: all of them are in the background. */
export type Presence = 'online' | 'away' | 'offline';

/** A session that is silent for longer is gone. */
export const PRESENT_MS = 30 * SECOND;
/** Typing is shown for this time after it was last reported. */
export const TYPING_MS = 10 * SECOND;

/** A staff member who has a conversation open. */
export interface Viewer {
  readonly staffId: number;
  readonly isTyping: boolean;
}

/** Viewers of a conversation. */
export interface ConversationPresence {
  readonly conversationId: number;
  /** By id of the staff member. */
  readonly viewers: readonly Viewer[];
}

/** Signalled when the viewers of a conversation change. */
export const presenceTopic = (tenantId: number, conversationId: number): string =>
  `presence:${tenantId}:${conversationId}`;
