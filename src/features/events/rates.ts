import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../../core/events.ts';
import { callerOf } from '../../core/principal.ts';
import type { LoggedEvent } from '../../events/bus.ts';
import type { Cursor } from '../../events/cursor.ts';
import { follow } from '../../events/follow.ts';
import { SECOND } from '../../platform/clock.ts';
import { closable } from '../../platform/closable.ts';
import type { Context } from '../../schema/context.ts';
import { readableTypes } from './filter.ts';

/** Events of one type in one second. */
export interface EventCount {
  /** Start of the second, in milliseconds since 1970. */
  readonly secondMs: number;
  readonly type: EventType;
  readonly count: number;
}

/** The events between two places of the log. */
export interface EventRates {
  /** The last event that is counted. */
  readonly cursor: Cursor;
  readonly counts: readonly EventCount[];
}

/**
 * Counts the events that the caller may read, by type and second, and yields what was counted at most once a second: a page can
 * draw the rates of a busy account without receiving its events.
 *
 * @param after as for `follow`; events up to there were counted already
 */
export async function followRates(
  context: Context,
  after: string | null | undefined,
): Promise<AsyncGenerator<EventRates>> {
  const events = await follow(context, { types: readableTypes(callerOf(context).scopes, undefined) }, after);
  return closable(rates(events), () => void events.return(undefined));
}

async function* rates(events: AsyncGenerator<LoggedEvent>): AsyncGenerator<EventRates> {
  let counted = new Tally();
  let wake = (): void => undefined;
  const ended = (async () => {
    for await (const event of events) {
      counted.add(event);
      wake();
    }
    return 'ended' as const;
  })();
  // Thrown below, where the stream waits for it.
  ended.catch(() => undefined);
  try {
    for (;;) {
      const first = new Promise<void>(resolve => {
        wake = resolve;
      });
      const isOver = counted.cursor === undefined && (await Promise.race([first, ended])) === 'ended';
      if (!isOver) await Promise.race([sleep(SECOND), ended]);
      const { cursor, counts } = counted;
      counted = new Tally();
      if (cursor) yield { cursor, counts };
      if (isOver) return;
    }
  } finally {
    await events.return(undefined);
  }
}

class Tally {
  cursor: Cursor | undefined;
  readonly #counts = new Map<string, { secondMs: number; type: EventType; count: number }>();

  add({ type, occurred_at, cursor }: LoggedEvent): void {
    const secondMs = Math.floor(Date.parse(occurred_at) / SECOND) * SECOND;
    const key = `${secondMs} ${type}`;
    const entry = this.#counts.get(key);
    if (entry) entry.count += 1;
    else this.#counts.set(key, { secondMs, type, count: 1 });
    this.cursor = cursor;
  }

  get counts(): EventCount[] {
    return [...this.#counts.values()];
  }
}
