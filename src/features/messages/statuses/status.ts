import type { MessageStatus, NetworkPerson } from '../../../network/network.ts';
import type { MessageError, MessageRow, Status } from '../message.ts';

/** A delivery status of a message. */
export interface StatusUpdate {
  readonly status: MessageStatus;
  /** ISO 8601. */
  readonly at: string;
  readonly wamid?: string | undefined;
  readonly error?: MessageError | undefined;
  /** The recipient's identities. */
  readonly person?: NetworkPerson | undefined;
}

const RANK: Readonly<Record<Status, number>> = {
  scheduled: 0,
  queued: 0,
  sent: 1,
  delivered: 2,
  read: 3,
  failed: 4,
  cancelled: 4,
  received: 5,
};

/**
 * Whether a status may follow another. Statuses only move forward, regardless of the order of webhooks; failed and cancelled are
 * final, and a delivered message cannot fail.
 */
export function mayFollow(from: Status, to: MessageStatus): boolean {
  if (from === 'failed' || from === 'cancelled' || from === 'received') return false;
  return to === 'failed' ? RANK[from] < RANK.delivered : RANK[to] > RANK[from];
}

const TIME_OF = {
  sent: 'sent_at',
  delivered: 'delivered_at',
  read: 'read_at',
  failed: 'failed_at',
} as const satisfies Record<MessageStatus, keyof MessageRow>;

/**
 * The network's time of a status, limited to lie between the times of the previous and the next status: the network's times are
 * whole seconds and ours are exact, so that a message could appear to be read before it was sent.
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

/** Columns that a late status may still set. */
const LATE = ['wamid', 'sent_at', 'delivered_at', 'read_at'] as const satisfies readonly (keyof MessageRow)[];

/** A message after a step forward. */
export type StatusStep = MessageRow & { readonly status: MessageStatus };

/**
 * Folds updates into a message.
 * @returns the resulting message (the same object if nothing changed), and the message after each step forward, for its event
 */
export function foldStatuses(
  message: MessageRow,
  updates: readonly StatusUpdate[],
  nowIso: string,
): { message: MessageRow; steps: StatusStep[] } {
  let folded = message;
  const steps: StatusStep[] = [];
  // The order within a batch is arbitrary. Ascending order, so that no step is skipped.
  for (const update of [...updates].sort((a, b) => RANK[a.status] - RANK[b.status])) {
    const time = TIME_OF[update.status];
    const forward = mayFollow(folded.status, update.status);
    // A late `sent` does not move the status back, but sets `sent_at`.
    const known = {
      wamid: folded.wamid ?? update.wamid ?? null,
      ...((forward || update.status !== 'failed') && { [time]: folded[time] ?? timeOf(folded, update) }),
    };
    if (forward) {
      const error = update.error ?? folded.error;
      const step = { ...folded, ...known, status: update.status, error, updated_at: nowIso };
      steps.push(step);
      folded = step;
    } else if (folded.status !== 'received') folded = { ...folded, ...known };
  }
  const isChanged = steps.length > 0 || LATE.some(column => folded[column] !== message[column]);
  return { message: isChanged ? folded : message, steps };
}
