import type { NewEvent } from '../../../core/events.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import type { NetworkUpdate } from '../../../network/updates.ts';
import { fileOf } from '../content/media/file.ts';
import { contentObject, wamidKey } from '../message.ts';
import { getMessages } from '../messages.sql.ts';
import { payloadsOf } from '../people.sql.ts';
import {
  type CorrectedMessage,
  type Correction,
  getAuthors,
  insertCorrections,
  lockCorrections,
  type PendingCorrection,
  setApplied,
  writeCorrected,
} from './corrections.sql.ts';

/** An edit or a revocation, with its channel. */
export interface CorrectionUpdate {
  readonly channelId: number;
  readonly contactId: number | undefined;
  /** When its webhook arrived, by the database's clock. */
  readonly arrivedMs: number;
  readonly update: Extract<NetworkUpdate, { kind: 'edit' | 'revoke' }>;
}

/** A message of a channel, by the network's id. */
export interface Original {
  readonly channelId: number;
  readonly wamid: string;
}

/** Edits and revocations, by whether the author of the message sent them. */
export interface JudgedCorrections {
  /** Also those whose message is not stored yet: they are judged when it is. */
  readonly accepted: readonly CorrectionUpdate[];
  readonly rejected: readonly CorrectionUpdate[];
}

/**
 * Judges corrections by the author of their message: the business for its own messages, else the contact that wrote it, in a group chat
 * the participant. Contacts that were merged are one author. Call it after the messages of the batch were stored.
 */
export async function judgeCorrections(
  trx: Db,
  tenantId: number,
  updates: readonly CorrectionUpdate[],
): Promise<JudgedCorrections> {
  if (updates.length === 0) return { accepted: [], rejected: [] };
  const authors = await getAuthors(
    trx,
    tenantId,
    updates.map(({ channelId, update }) => ({ channelId, wamid: update.originalWamid })),
  );
  const authorOf = new Map(authors.map(author => [wamidKey(author.channel_id, author.wamid), author]));
  const isByAuthor = ({ channelId, contactId, update }: CorrectionUpdate): boolean => {
    const author = authorOf.get(wamidKey(channelId, update.originalWamid));
    if (update.direction === 'outbound') return author === undefined || author.direction === 'outbound';
    if (contactId === undefined) return false;
    return author === undefined || (author.direction === 'inbound' && author.contact_id === contactId);
  };
  const { accepted = [], rejected = [] } = Object.groupBy(updates, one => (isByAuthor(one) ? 'accepted' : 'rejected'));
  return { accepted, rejected };
}

/**
 * Stores edits and revocations and applies them to their messages, with an event for each. A correction that arrives before its
 * message stays pending until the message is stored.
 *
 * The latest edit wins, regardless of the order of arrival. A revoked message keeps its content and is marked.
 * @param updates those that `judgeCorrections` accepted
 * @param originals messages that were stored in this transaction
 */
export async function applyCorrections(
  trx: Db,
  tenantId: number,
  updates: readonly CorrectionUpdate[],
  originals: readonly Original[],
  nowMs: number,
): Promise<void> {
  if (updates.length > 0)
    await insertCorrections(
      trx,
      tenantId,
      updates.map(correction => rowOf(correction, nowMs)),
    );
  const named = [...updates.map(({ channelId, update }) => ({ channelId, wamid: update.originalWamid })), ...originals];
  if (named.length === 0) return;
  const distinct = new Map(named.map(original => [wamidKey(original.channelId, original.wamid), original]));
  const pending = await lockCorrections(trx, tenantId, [...distinct.values()]);
  if (pending.length === 0) return;
  const outcomes = [...Map.groupBy(pending, ({ message_id }) => message_id).values()].map(applyInOrder);
  await writeCorrected(
    trx,
    tenantId,
    outcomes.map(({ message }) => message),
  );
  await setApplied(
    trx,
    tenantId,
    outcomes.flatMap(({ applied }) => applied),
  );
  const messages = new Map(
    (
      await getMessages(
        trx,
        tenantId,
        outcomes.map(({ message }) => message.message_id),
      )
    ).map(row => [row.id, row]),
  );
  const payloadFor = await payloadsOf(trx, tenantId, [...messages.values()]);
  await append(
    trx,
    tenantId,
    outcomes.flatMap(({ steps }) =>
      steps.flatMap((step): NewEvent[] => {
        const row = messages.get(step.message_id);
        if (!row) return [];
        return step.kind === 'revoke'
          ? [{ type: 'message.revoked', payload: { ...payloadFor(row), revoked_at: step.occurred_at } }]
          : [
              {
                type: 'message.edited',
                payload: {
                  ...payloadFor(row),
                  previous: { message: step.previous.body, content: step.previous.content },
                  edited_at: step.occurred_at,
                },
              },
            ];
      }),
    ),
  );
}

const rowOf = ({ channelId, contactId, update }: CorrectionUpdate, nowMs: number): Correction => ({
  channel_id: channelId,
  wamid: update.wamid,
  original_wamid: update.originalWamid,
  kind: update.kind,
  direction: update.direction,
  contact_id: contactId ?? null,
  occurred_at: new Date(Math.min(update.at.getTime(), nowMs)).toISOString(),
  body: update.text ?? null,
  content: update.kind === 'edit' ? contentObject(update.content) : null,
});

type Content = Pick<CorrectedMessage, 'body' | 'content'>;

interface Step extends Pick<PendingCorrection, 'message_id' | 'kind' | 'occurred_at' | 'channel_id' | 'wamid'> {
  readonly previous: Content;
}

interface Outcome {
  readonly message: CorrectedMessage;
  readonly applied: readonly Step[];
  /** The applied corrections that changed the message; an outdated edit does not. */
  readonly steps: readonly Step[];
}

/** Applies the corrections of one message, in order. */
function applyInOrder(corrections: readonly PendingCorrection[]): Outcome {
  const [first] = corrections as [PendingCorrection, ...PendingCorrection[]];
  let message: CorrectedMessage = {
    message_id: first.message_id,
    body: first.message_body,
    content: first.message_content,
    edited_at: first.edited_at,
    revoked_at: first.revoked_at,
  };
  const applied: Step[] = [];
  const steps: Step[] = [];
  for (const correction of corrections) {
    const { message_id, kind, occurred_at, channel_id, wamid } = correction;
    const step: Step = {
      message_id,
      kind,
      occurred_at,
      channel_id,
      wamid,
      previous: { body: message.body, content: message.content },
    };
    applied.push(step);
    const isLate =
      kind === 'edit' ? message.edited_at !== null && message.edited_at > occurred_at : message.revoked_at !== null;
    if (isLate) continue;
    message =
      kind === 'edit'
        ? { ...message, body: correction.body, content: contentAfter(message, correction), edited_at: occurred_at }
        : { ...message, revoked_at: occurred_at };
    steps.push(step);
  }
  return { message, applied, steps };
}

/** The content of a message after an edit. A caption may be edited without its file being named again: the message keeps it. */
function contentAfter(
  { content: before }: Content,
  { message_type: type, body, content }: PendingCorrection,
): Content['content'] {
  const after = content ?? {};
  if (!fileOf({ type, content: before }) || fileOf({ type, content: after })) return after;
  const { caption: _before, ...file } = before;
  return { ...file, ...(body !== null && { caption: body }) };
}
