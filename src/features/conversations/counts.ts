import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../../core/events.ts';
import type { Filter } from '../../core/list-args.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import { listStatement } from '../../database/list.ts';
import { follow } from '../../events/follow.ts';
import { SECOND } from '../../platform/clock.ts';
import { closable } from '../../platform/closable.ts';
import type { Context } from '../../schema/context.ts';
import { type ConversationCounts, countConversations, type WantedCounts } from './counts.sql.ts';
import { CONVERSATIONS, checkContactFilter, hasContactFilter, withIndexed } from './list.ts';

/** Counts the conversations of a filter. @param wanted the expensive counts that are shown */
export const readCounts = (
  context: Context,
  filter: Filter | null | undefined,
  wanted: WantedCounts,
): Promise<ConversationCounts> => {
  checkContactFilter(context, filter);
  const { session } = callerOf(context);
  const statement = listStatement(CONVERSATIONS, tenantOf(context), { filter: withIndexed(filter) });
  return countConversations(context.db.read, statement, session?.staffId ?? null, wanted);
};

/** Events after which the counts are read again. */
const CHANGES: ReadonlySet<EventType> = new Set([
  'conversation.created',
  'conversation.updated',
  'message.received',
  'message.queued',
  'message.sent',
  'contact.merged',
  'contact.deleted',
  // The undo of a merge restores conversations with the contact.
  'contact.created',
]);

/** As CHANGES, for a filter with conditions on the contact. `addContactsToGroup` has no event: its effect shows with the next change. */
const CHANGES_OF_CONTACTS: ReadonlySet<EventType> = new Set([
  ...CHANGES,
  'contact.updated',
  'contact.opted_in',
  'contact.opted_out',
  'consent.changed',
]);

const PAUSE_MS = SECOND;

/** Yields the present counts, then each change, at most one a second. */
export async function followCounts(
  context: Context,
  filter: Filter | null | undefined,
  wanted: WantedCounts,
): Promise<AsyncGenerator<ConversationCounts>> {
  checkContactFilter(context, filter);
  const { resumeAfter: _cursor, ...live } = context;
  const types = hasContactFilter(filter) ? CHANGES_OF_CONTACTS : CHANGES;
  const events = await follow(live, { types }, undefined);
  return closable(counts(context, filter, wanted, events), () => void events.return(undefined));
}

async function* counts(
  context: Context,
  filter: Filter | null | undefined,
  wanted: WantedCounts,
  events: AsyncGenerator<unknown>,
): AsyncGenerator<ConversationCounts> {
  let isChanged = true;
  let wake = (): void => undefined;
  const ended = (async () => {
    for await (const _event of events) {
      isChanged = true;
      wake();
    }
    return 'ended' as const;
  })();
  // Thrown below, where the stream waits for it.
  ended.catch(() => undefined);
  let shown = '';
  try {
    for (;;) {
      isChanged = false;
      const value = await readCounts(context, filter, wanted);
      const text = JSON.stringify(value);
      if (text !== shown) yield value;
      shown = text;
      if ((await Promise.race([sleep(PAUSE_MS, 'later' as const), ended])) === 'ended') return;
      if (!isChanged) {
        const change = new Promise<void>(resolve => {
          wake = resolve;
        });
        if ((await Promise.race([change, ended])) === 'ended') return;
      }
    }
  } finally {
    await events.return(undefined);
  }
}
