/** Presence that this window publishes. */
export interface PresenceState {
  /** The conversation that is open. */
  readonly conversationId: string | undefined;
  readonly isTyping: boolean;
}

let current: PresenceState = { conversationId: undefined, isTyping: false };
const listeners = new Set<(now: PresenceState) => void>();

export const currentPresence = (): PresenceState => current;

/** Records the presence of this window; the page reports it to the gateway. */
export function setPresenceState(next: PresenceState): void {
  if (next.conversationId === current.conversationId && next.isTyping === current.isTyping) return;
  current = next;
  for (const listener of listeners) listener(next);
}

export function onPresenceChange(listener: (now: PresenceState) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
