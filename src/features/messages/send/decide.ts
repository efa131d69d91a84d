import { notFound } from '../../../core/errors.ts';
import { newId, newIdAt } from '../../../core/ids.ts';
import { callerOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { requireActiveChannel } from '../../channels/require-channel.ts';
import { fingerprintOf, markAnswering, replayOf } from '../../tenancy/idempotency/once.ts';
import { PRIORITY, type Priority } from '../dispatch/lane.ts';
import type { MessageRow } from '../message.ts';
import { getMessages } from '../messages.sql.ts';
import { scheduledInstant } from '../scheduling/scheduled-at.ts';
import { windowOf } from '../window.ts';
import type { Addressee, NewSend } from './accept.sql.ts';
import { addresseeOf } from './addressee.ts';
import { type Composed, type Content, checkUpload, compose, recipientFields } from './content.ts';
import type { SendFacts, SentResult } from './facts.sql.ts';
import { outcomeOf } from './outcome.ts';
import { refusesOutside, requireWindow } from './permission.ts';
import type { PreparedSend } from './request.ts';

/** A send that may be written. */
export interface DecidedSend extends NewSend {
  readonly prepared: PreparedSend;
  /** The number of the contact. */
  readonly phone: string | null;
  /** The number of a new contact whose opt-outs from before an erasure come back with it. */
  readonly restoredKey: string | undefined;
}

/** Decision on a request: a repetition, with the first message, or a new message. */
export type Decision = { readonly repeated: MessageRow } | { readonly send: DecidedSend };

/** @throws why the request is refused */
export async function decide(context: Context, prepared: PreparedSend, found: SendFacts): Promise<Decision> {
  const { operation, input, content, storedKey, idempotency } = prepared;
  if (storedKey !== undefined && found.key_operation !== null) {
    const stored = await replayOf(context, storedKey, keyRow(found), idempotency);
    return { repeated: await repeatedMessage(context, prepared, stored) };
  }
  const { to, channelId, composed, scheduledAt, isWindowRequired } = await checkSend(context, prepared, found);
  // A caller that waits for the message, or asks whether its request still runs, needs the id before the message exists.
  const isKnownBefore = input.waitForAcceptance === true || (storedKey !== undefined && context.replay.wantsAnswer);
  const message = {
    id: input.id ?? (isKnownBefore ? newIdAt(found.now_ms) : null),
    channelId,
    type: content.type,
    priority: input.priority ?? priorityOf(content, found),
    templateId: content.templateId ?? null,
    body: composed.body,
    content: composed.content,
    sealed: composed.secret ? context.secrets.seal(JSON.stringify(composed.secret)) : null,
    replyToWamid: input.replyToWamid ?? null,
    author: prepared.author,
    echoId: input.echoId ?? null,
    retryOf: input.retryOf ?? null,
    scheduledAt,
    isWindowRequired,
    createdAt: new Date(found.now_ms).toISOString(),
    // A reaction is shown at its message.
    isAnswer: content.isCode !== true && content.type !== 'reaction' && scheduledAt === null,
    conversationStatus: content.freeForm ? ('open' as const) : ('closed' as const),
    eventId: newId(),
    conversationEventId: newId(),
    idempotency:
      storedKey === undefined ? undefined : { storedKey, operation, fingerprint: fingerprintOf(context, idempotency) },
  };
  if (storedKey !== undefined) await markAnswering(context, storedKey, message.id ?? undefined);
  return {
    send: {
      prepared,
      message,
      to: scheduledAt !== null && 'contactId' in to ? { ...to, takesOver: false } : to,
      phone: found.contact ? found.contact.phone : (prepared.recipient.phone ?? null),
      restoredKey: found.erased_opt_outs !== null && 'fields' in to ? (to.fields.phone_key ?? undefined) : undefined,
    },
  };
}

interface CheckedSend {
  readonly to: Addressee;
  readonly channelId: number;
  readonly composed: Composed;
  readonly scheduledAt: string | null;
  /** Whether the service window is to be checked when a scheduled message is sent. */
  readonly isWindowRequired: boolean;
}

/**
 * Checks a send against the facts read for it and composes its content; does not check the plan. Also the whole of a preview.
 * @throws the refusal
 */
export async function checkSend(context: Context, prepared: PreparedSend, found: SendFacts): Promise<CheckedSend> {
  const { input, content, query } = prepared;
  const { id: channelId } = requireActiveChannel(channelOf(found), query.channelId !== null, 'channelId');
  const to = await addresseeOf(context, prepared, found);
  const { scheduledAt: when } = input;
  const place = found.contact
    ? { timeZone: found.contact.time_zone, phone: found.contact.phone, userId: found.contact_user_id }
    : {
        timeZone: ('fields' in to && to.fields.time_zone) || null,
        phone: prepared.recipient.phone ?? null,
        userId: null,
      };
  const scheduledAt = when ? scheduledInstant(when, place, found.now_ms) : null;
  if (scheduledAt !== null) checkUpload(content, scheduledAt);
  const isWindowRequired = content.freeForm && refusesOutside(callerOf(context).tenant, input);
  if (scheduledAt === null && isWindowRequired) requireWindow(found);
  const composed = compose(content, found.contact ?? recipientFields(to), input.removesEmptyFields ?? false);
  return { to, channelId, composed, scheduledAt, isWindowRequired };
}

const channelOf = ({ channel_id: id, channel_status: status, channel_status_reason: status_reason }: SendFacts) =>
  id === null || status === null ? undefined : { id, status, status_reason };

function priorityOf({ isCode, freeForm }: Content, { window_expires_at, now_ms: nowMs }: SendFacts): Priority {
  if (isCode) return PRIORITY.otp;
  return freeForm && windowOf(window_expires_at, nowMs).open ? PRIORITY.answer : PRIORITY.single;
}

const keyRow = (found: SendFacts) => ({
  operation: found.key_operation ?? '',
  fingerprint: Buffer.from(found.key_fingerprint ?? '', 'hex'),
  result: found.key_result,
  answer: found.key_answer,
  age: found.key_age ?? 0,
});

async function repeatedMessage(context: Context, { input }: PreparedSend, stored: unknown): Promise<MessageRow> {
  const { id, contact_created } = stored as SentResult;
  const [row] = await getMessages(context.db.write, callerOf(context).tenant.id, [id]);
  if (!row) throw notFound('Message');
  const message = { ...row, ...(contact_created !== undefined && { contact_created }) };
  return input.waitForAcceptance ? outcomeOf(message, message) : message;
}
