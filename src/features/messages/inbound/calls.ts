import { isDeepStrictEqual } from 'node:util';
import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import { countryOfPerson } from '../../../platform/phone-country.ts';
import {
  type ExternalFold,
  foldExternal,
  idsByThread,
  lockOrCreateConversations,
  threadEvents,
} from '../../conversations/fold.ts';
import { threadKey } from '../../conversations/owners.ts';
import { getMessages } from '../messages.sql.ts';
import { payloadsOf } from '../people.sql.ts';
import { type CallRow, insertExternalMessages, lockCalls, writeCalls } from './external-messages.sql.ts';
import type { InboundMessage } from './receive.ts';

type Call = Extract<NetworkUpdate, { kind: 'call' }>;

/** A call update with its thread. */
export interface CallUpdate {
  readonly channelId: number;
  readonly contactId: number;
  readonly arrivedMs: number;
  readonly update: Call;
}

/** The call details of a message: the network's values in lower case, and the full payload. */
interface CallContent {
  readonly direction: 'inbound' | 'outbound';
  /** The latest event: connect, ringing, accepted, rejected, terminate. */
  readonly event: string;
  /** completed, failed, or rejected (an outgoing call that the person declined); null during the call. */
  readonly outcome: string | null;
  readonly duration_seconds: number | null;
  readonly started_at: string;
}

/** The order of events. A call never moves back, regardless of the order of webhooks. */
const RANK: Readonly<Record<string, number>> = { connect: 1, ringing: 2, accepted: 3, rejected: 4, terminate: 5 };
const rankOf = (event: string): number => RANK[event] ?? 0;

/** The first event of an inbound call is stored as a message: it opens the service window. */
export const callAsMessage = ({ update, arrivedMs }: CallUpdate): InboundMessage => ({
  kind: 'message',
  phoneNumberId: update.phoneNumberId,
  wamid: update.callId,
  from: update.person.waId,
  userId: update.person.userId,
  profileName: update.profileName,
  at: update.at,
  ...(update.isTimeEstimated && { isTimeEstimated: true }),
  type: 'call',
  text: undefined,
  replyTo: undefined,
  content: contentAfter(undefined, update),
  error: undefined,
  arrivedMs,
});

/**
 * Stores outbound calls and updates all calls, with `message.edited` for each change. Inbound calls are stored before, as messages
 * (`callAsMessage`).
 */
export async function applyCalls(
  trx: Db,
  tenantId: number,
  updates: readonly CallUpdate[],
  nowMs: number,
): Promise<void> {
  if (updates.length === 0) return;
  await storeOutgoing(
    trx,
    tenantId,
    updates.filter(({ update }) => update.direction === 'outbound'),
    nowMs,
  );
  const rows = await lockCalls(
    trx,
    tenantId,
    updates.map(({ channelId, update }) => ({ channelId, callId: update.callId })),
  );
  const changed = new Map<string, CallRow & { readonly previous: CallRow['content'] }>();
  for (const row of new Map(rows.map(one => [one.message_id, one])).values()) {
    let { content } = row;
    for (const { channelId, update } of updates)
      if (channelId === row.channel_id && update.callId === row.wamid) content = contentAfter(content, update);
    if (!isDeepStrictEqual(content, row.content))
      changed.set(row.message_id, { ...row, content, previous: row.content });
  }
  if (changed.size === 0) return;
  await writeCalls(trx, tenantId, [...changed.values()]);
  const messages = await getMessages(trx, tenantId, [...changed.keys()]);
  const payloadFor = await payloadsOf(trx, tenantId, messages);
  await append(
    trx,
    tenantId,
    messages.map((row): NewEvent => {
      const previous = { message: null, content: changed.get(row.id)?.previous ?? {} };
      const edited_at = new Date(nowMs).toISOString();
      return { type: 'message.edited', payload: { ...payloadFor(row), previous, edited_at } };
    }),
  );
}

async function storeOutgoing(trx: Db, tenantId: number, updates: readonly CallUpdate[], nowMs: number): Promise<void> {
  if (updates.length === 0) return;
  const conversations = await lockOrCreateConversations(
    trx,
    tenantId,
    updates.map(({ channelId, contactId }) => ({ channelId, contactId, status: 'open' })),
    nowMs,
  );
  const idOf = idsByThread(conversations);
  const nowIso = new Date(nowMs).toISOString();
  const rows = updates.flatMap(({ channelId, contactId, arrivedMs, update }) => {
    const conversationId = idOf.get(threadKey({ channelId, contactId }));
    if (conversationId === undefined) return [];
    return [
      {
        wamid: update.callId,
        conversation_id: conversationId,
        contact_id: contactId,
        channel_id: channelId,
        direction: 'outbound' as const,
        type: 'call',
        body: null,
        content: contentAfter(undefined, update),
        status: 'sent' as const,
        error: null,
        reply_to_wamid: null,
        author: null,
        country: countryOfPerson(update.person.waId, update.person.userId),
        sent_at: new Date(Math.min(update.at.getTime(), arrivedMs)).toISOString(),
        created_at: nowIso,
        updated_at: nowIso,
        network_ms: update.at.getTime(),
        arrived_ms: arrivedMs,
      },
    ];
  });
  const stored = await insertExternalMessages(trx, tenantId, rows);
  // A call is no answer, because the person may not have taken it.
  const folds = stored.flatMap((row): ExternalFold[] =>
    row.conversation_id === null ? [] : [{ ...row, conversation_id: row.conversation_id, kind: 'call' }],
  );
  const folded = await foldExternal(trx, tenantId, conversations, folds, nowMs);
  const payloadFor = await payloadsOf(trx, tenantId, stored);
  await append(trx, tenantId, [
    ...threadEvents(conversations, folded),
    ...stored.map((row): NewEvent => ({ type: 'message.sent', payload: payloadFor(row) })),
  ]);
}

/** @param before undefined for the first update of the call */
function contentAfter(before: Readonly<Record<string, unknown>> | undefined, update: Call): Record<string, unknown> {
  const known = before as Partial<CallContent> | undefined;
  const isForward = known?.event === undefined || rankOf(update.event) >= rankOf(known.event);
  const startedAt = update.at.toISOString();
  return {
    direction: update.direction,
    event: isForward ? update.event : known.event,
    outcome: update.outcome ?? known?.outcome ?? null,
    duration_seconds: update.durationSeconds ?? known?.duration_seconds ?? null,
    started_at: known?.started_at !== undefined && known.started_at < startedAt ? known.started_at : startedAt,
  } satisfies CallContent;
}
