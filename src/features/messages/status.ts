import type { MessageStatus } from '../../network/network.ts';
import type { MessageError, MessageRow, Status } from './message.ts';

/** What the network says became of one message. */
export interface StatusUpdate {
  readonly status: MessageStatus;
  /** ISO 8601. */
  readonly at: string;
  readonly wamid?: string | undefined;
  readonly error?: MessageError | undefined;
}

const RANK: Readonly<Record<Status, number>> = { queued: 0, sent: 1, delivered: 2, read: 3, failed: 4, received: 5 };

/**
 * Whether a message may go from one status to the other. Statuses only move forward, whatever order the network's
 * webhooks come in; failed is final, and what has reached the person cannot fail any more.
 */
export function mayFollow(from: Status, to: MessageStatus): boolean {
  if (from === 'failed' || from === 'received') return false;
  return to === 'failed' ? RANK[from] < RANK.delivered : RANK[to] > RANK[from];
}

const TIME_OF = {
  sent: 'sent_at',
  delivered: 'delivered_at',
  read: 'read_at',
  failed: 'failed_at',
} as const satisfies Record<MessageStatus, keyof MessageRow>;

/**
 * When a step was, as the network says, but not before the step that it follows nor after one that follows it: the network
 * tells whole seconds and we know the moment of its answer, so a message would be read before it was sent.
 */
function timeOf(message: MessageRow, { status, at }: StatusUpdate): string {
  const { created_at: created, sent_at: sent, delivered_at: delivered, read_at: read } = message;
  const before = { sent: [], delivered: [sent], read: [sent, delivered], failed: [sent] }[status];
  const after = { sent: [delivered, read, message.failed_at], delivered: [read], read: [], failed: [] }[status];
  // ISO 8601 in UTC sorts as text.
  const least = [created, ...before].reduce<string>(
    (latest, time) => (time !== null && time > latest ? time : latest),
    at,
  );
  return after.reduce<string>((earliest, time) => (time !== null && time < earliest ? time : earliest), least);
}

/**
 * Folds updates into a message.
 * @returns the message as it is afterwards, and as it was after each step forward (one event each)
 */
export function foldStatuses(
  message: MessageRow,
  updates: readonly StatusUpdate[],
  nowIso: string,
): { message: MessageRow; steps: MessageRow[] } {
  let folded = message;
  const steps: MessageRow[] = [];
  // Within one batch the order says nothing; what can still follow is taken from the lowest up, so that no step is lost.
  for (const update of [...updates].sort((a, b) => RANK[a.status] - RANK[b.status])) {
    const time = TIME_OF[update.status];
    const forward = mayFollow(folded.status, update.status);
    // A late "sent" does not move the status back, but tells when it was sent.
    const known = {
      wamid: folded.wamid ?? update.wamid ?? null,
      ...((forward || update.status !== 'failed') && { [time]: folded[time] ?? timeOf(folded, update) }),
    };
    if (forward) {
      folded = { ...folded, ...known, status: update.status, error: update.error ?? folded.error, updated_at: nowIso };
      steps.push(folded);
    } else if (folded.status !== 'received') folded = { ...folded, ...known };
  }
  return { message: folded, steps };
}
