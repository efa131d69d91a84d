import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { isOutboxHeld } from '../../../database/outbox-hold.sql.ts';
import { append } from '../../../events/append.ts';
import type { Resources } from '../../../schema/context.ts';
import { takenOverEvents } from '../../conversations/fold.ts';
import { failCodes } from '../../otp/fail-codes.ts';
import { conversationsLeft, countSends, lockMonth, messagesLeft, monthOf } from '../../tenancy/usage/usage.ts';
import { laneOf, OUTBOX, PRIORITY } from '../dispatch/lane.ts';
import type { MessageRow } from '../message.ts';
import { payloadsOf } from '../people.sql.ts';
import { lockOutbound, writeStates } from '../statuses/states.sql.ts';
import {
  type DueMessage,
  findDue,
  lockDue,
  lockFreeContacts,
  type Released,
  recordQueued,
  requeue,
} from './scheduled.sql.ts';

/** Messages released by one transaction. */
const BATCH = 500;

/**
 * Queues scheduled messages whose time has come. What was checked when they were accepted is checked again: the service window and the
 * plan here, opt-outs by the lane when it sends. A message that may not be sent any more fails. Any number of processes may run this at
 * once.
 */
export async function releaseScheduled(resources: Resources): Promise<void> {
  const { db, lanes, signals, log } = resources;
  /** Tenants left to the next run, because most of their messages are locked or releasing them failed: they must not hold up others. */
  const passed = new Set<number>();
  for (;;) {
    const due = await findDue(db.write, BATCH, [...passed]);
    if (due.length === 0 || (await isOutboxHeld(db.write))) return;
    for (const [tenantId, ofTenant] of Map.groupBy(due, one => one.tenant_id)) {
      try {
        const rows = await db.transaction(trx => release(trx, resources, tenantId, ofTenant));
        if (rows.length < ofTenant.length / 2) passed.add(tenantId);
        for (const channelId of new Set(rows.map(row => row.channel_id)))
          lanes.wake(OUTBOX, laneOf(tenantId, channelId));
        if (rows.length > 0) signals.send('events');
      } catch (error) {
        passed.add(tenantId);
        log.error({ err: error, tenantId }, 'scheduled messages could not be released; the next run tries again');
      }
    }
    if (due.length < BATCH) return;
  }
}

/** Lock order: contacts, states, conversations, outbox, counters. @returns the messages that are no longer scheduled */
async function release(
  trx: Db,
  { clock }: Pick<Resources, 'clock'>,
  tenantId: number,
  due: readonly DueMessage[],
): Promise<MessageRow[]> {
  const month = monthOf(clock.now());
  const free = await lockFreeContacts(trx, tenantId, [...new Set(due.map(one => one.contact_id))]);
  const refs = due.flatMap(one => (free.has(one.contact_id) ? { tenantId, messageId: one.message_id } : []));
  if (refs.length === 0) return [];
  const states = new Map((await lockOutbound(trx, refs)).map(({ row }) => [row.id, row]));
  const found = await lockDue(
    trx,
    tenantId,
    refs.map(({ messageId }) => messageId),
    month,
  );
  if (found.length === 0) return [];
  await lockMonth(trx, tenantId, month);
  const decided = decideEach(found, {
    messages: await messagesLeft(trx, tenantId, month),
    conversations: await conversationsLeft(trx, tenantId, month),
  });
  await requeue(
    trx,
    tenantId,
    decided.map(({ one, refusal }) => ({
      messageId: one.message_id,
      priority: refusal ? null : one.is_free_form && one.is_window_open ? PRIORITY.answer : PRIORITY.single,
    })),
  );
  const nowIso = new Date(clock.now()).toISOString();
  const rows = decided.flatMap(({ one, refusal }): MessageRow[] => {
    const row = states.get(one.message_id);
    if (!row) return [];
    const changed = { ...row, updated_at: nowIso };
    return [
      refusal ? { ...changed, status: 'failed', error: refusal, failed_at: nowIso } : { ...changed, status: 'queued' },
    ];
  });
  await writeStates(
    trx,
    rows.map(row => ({ tenantId, row })),
  );
  const sent = decided.filter(({ refusal }) => !refusal);
  const opened = new Set(sent.flatMap(({ one }) => (one.is_counted ? [] : one.conversation_id)));
  const queued = sent.map(({ one }) => ({
    messageId: one.message_id,
    conversationId: one.conversation_id,
    takesOver: one.takes_over,
  }));
  await recordQueued(trx, tenantId, queued, month, nowIso);
  const takenIds = new Set(queued.flatMap(one => (one.takesOver ? one.conversationId : [])));
  const payloadOf = await payloadsOf(trx, tenantId, rows);
  await append(trx, tenantId, [
    ...(await takenOverEvents(trx, tenantId, [...takenIds])),
    ...rows.map(
      (row): NewEvent => ({
        type: row.status === 'failed' ? 'message.failed' : 'message.queued',
        payload: payloadOf(row),
      }),
    ),
  ]);
  await failCodes(
    trx,
    tenantId,
    rows.filter(row => row.status === 'failed'),
  );
  await countSends(trx, tenantId, month, sent.length, opened.size);
  return rows;
}

interface Decided {
  readonly one: Released;
  /** Why it fails; undefined if it is sent. */
  readonly refusal: MessageRow['error'] | undefined;
}

const refusal = (title: string, details: string) => ({ code: 0, title, details });

/** The first messages that fit the plan are sent. */
function decideEach(
  due: readonly Released[],
  left: { readonly messages: number | null; readonly conversations: number | null },
): Decided[] {
  const room = {
    messages: left.messages ?? Number.POSITIVE_INFINITY,
    conversations: left.conversations ?? Number.POSITIVE_INFINITY,
  };
  const opened = new Set<number>();
  return due.map(one => {
    if (one.is_free_form && one.is_window_required && !one.is_window_open)
      return {
        one,
        refusal: refusal(
          'Service window closed',
          'The 24-hour service window was closed when the message was to be sent.',
        ),
      };
    const opens = !one.is_counted && !opened.has(one.conversation_id);
    if (room.messages < 1 || (opens && room.conversations < 1))
      return { one, refusal: refusal('Plan used up', 'The plan had no room left when the message was to be sent.') };
    room.messages -= 1;
    if (opens) {
      opened.add(one.conversation_id);
      room.conversations -= 1;
    }
    return { one, refusal: undefined };
  });
}
