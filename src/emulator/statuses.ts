import { occurs } from './faults.ts';
import type { PlannedStatus } from './journal.ts';
import type { AcceptedMessage, Update, WebhookError } from './update.ts';
import type { World } from './world.ts';

type Step = readonly [word: PlannedStatus[1], delayMs: number, error?: WebhookError];

export interface StatusPlan {
  readonly planned: readonly PlannedStatus[];
  /** Delays in milliseconds, one per planned status. */
  readonly delaysMs: readonly number[];
}

/**
 * Plans the statuses of a message: failed, or sent, delivered and read, according to the traits. A message that does not reach the
 * phone is only `sent`.
 */
export function planStatuses(
  world: World,
  { at, held }: Pick<AcceptedMessage, 'at' | 'held'>,
  failure: WebhookError | undefined,
): StatusPlan {
  const { faults, delays } = world;
  const { skipDelivered, readReceipts } = faults.current;
  const steps: Step[] = [];
  if (failure) steps.push(['failed', delays.sentMs, failure]);
  else {
    const skipped = readReceipts && occurs(skipDelivered);
    steps.push(['sent', delays.sentMs]);
    if (held) return plan(world, at, steps);
    if (!skipped) steps.push(['delivered', delays.deliveredMs]);
    if (readReceipts) steps.push(['read', delays.readMs]);
  }
  return plan(world, at, steps);
}

/** The remaining statuses of a message whose phone is online again. */
export function planReturn(world: World, at: number): StatusPlan {
  const steps: Step[] = [['delivered', world.delays.sentMs]];
  if (world.faults.current.readReceipts) steps.push(['read', world.delays.readMs]);
  return plan(world, at, steps);
}

function plan(world: World, at: number, steps: readonly Step[]): StatusPlan {
  const { dropStatuses, reorder } = world.faults.current;
  const kept = steps.filter(() => !occurs(dropStatuses));
  const times = kept.map(([, delayMs]) => delayMs);
  return {
    planned: kept.map(([word, delayMs, error]) =>
      error ? [world.nextSeq(), word, at + delayMs, error] : [world.nextSeq(), word, at + delayMs],
    ),
    // Timestamps stay correct; only the order of the webhooks is reversed.
    delaysMs: reorder ? times.reverse() : times,
  };
}

export function statusUpdate(message: AcceptedMessage, [seq, status, at, error]: PlannedStatus): Update {
  return { kind: 'status', seq, at, message, status, error };
}
