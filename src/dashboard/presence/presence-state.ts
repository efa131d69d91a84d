/** Presence that this window publishes. */
export interface Shown {
  /** The conversation that is open. */
  readonly conversationId: string | undefined;
  readonly isTyping: boolean;
}

let shown: Shown = { conversationId: undefined, isTyping: false };
const listeners = new Set<(now: Shown) => void>();

export const shownNow = (): Shown => shown;

/** Records what is shown now; the page reports it to the gateway. */
export function show(next: Shown): void {
  if (next.conversationId === shown.conversationId && next.isTyping === shown.isTyping) return;
  shown = next;
  for (const listener of listeners) listener(next);
}

export function onShown(listener: (now: Shown) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
