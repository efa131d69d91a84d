import type { Author } from '../../core/author.ts';
import { CodedError, conflict, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { requireFeature } from '../../core/plan-features.ts';
import { callerOf, tenantOf } from '../../core/principal.ts';
import type { Db } from '../../database/database.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Context } from '../../schema/context.ts';
import { channelLoader } from '../channels/loaders.ts';
import { findMessage } from '../messages/loaders.ts';
import { type EventMessage, type MessageRow, rowOfEvent } from '../messages/message.ts';
import { outcomeOf, throwIfFailed } from '../messages/send/outcome.ts';
import { sendTemplate } from '../templates/sending/send-template.ts';
import { keyOf, once } from '../tenancy/idempotency/once.ts';
import { isRunning, markRunning } from '../tenancy/idempotency/running.ts';
import { activate } from './activate.ts';
import { withAllFaults, withInputFields } from './all-faults.ts';
import { giveBackSend, lockPhones, readUse, takeHour, takeSend } from './caps.sql.ts';
import { capRefusal, hourOf, hourRefusal, sendCaps } from './caps.ts';
import { macOf } from './code.ts';
import { deleteSending } from './codes.sql.ts';
import { sendInputOf } from './delivery-fields.ts';
import { publicOtp, type SentOtp } from './otp.ts';
import { type GivenOtpInput, type OtpRequest, readSend, type SendKind, type SendOtpInput } from './request.ts';
import { AS_OTP, messageKeyOf, settle } from './settle.ts';
import { type AgedOtp, getOtp, insertSending, type NewOtp } from './store.ts';

/** Maximum number of consecutive dead requests under one key that a repeated request replaces. */
const MAX_TRIES = 3;

/** Author of messages with codes. A one-time password is no actor: it has no row to show. */
const OTP_AUTHOR: Author = { kind: 'otp', id: null, name: 'One-time password' };

interface ReservedOtp {
  readonly id: string;
  /** Created by this request; undefined if an earlier request with the same idempotency key created it. */
  readonly otp: NewOtp | undefined;
}

/**
 * Sends a one-time password with a template of the category AUTHENTICATION. The new code replaces the live code of its phone
 * number and purpose once its message is accepted; a refused send leaves the live code unchanged.
 *
 * Accepting a message is a separate statement, so the code is written in two steps around it:
 *
 * 1. One transaction checks the quotas, claims the caller's idempotency key and inserts a row with the state `sending`, which
 *    cannot be verified.
 * 2. The message is accepted, under the idempotency key `otp:<id>`.
 * 3. One transaction makes the row `live` and the previous one `replaced`, with the event.
 *
 * So a code is live only if its message was accepted. Between 2 and 3 lie a few milliseconds, too few for a person to read a code.
 * If the process dies there, the key of step 2, which was written with the message, tells a repeated request or the clean-up job to
 * do step 3 (settle.ts). The reverse order (live first, rolled back if the message is refused) would disable the previous code for
 * that time, and permanently if the process died.
 * Requests that wait for the network do so after step 3: a person may type faster than the network responds. If the message then
 * fails, at once or later, or is cancelled, the same transaction makes the previous code live again (fail-codes.ts).
 *
 * @throws VALIDATION_ERROR with all faults by field, RATE_LIMIT_EXCEEDED with retry_after, FEATURE_NOT_AVAILABLE, and the errors of the messages' `send`
 */
export async function sendOtp(context: Context, given: GivenOtpInput, kind: SendKind = 'send'): Promise<SentOtp> {
  requireFeature(callerOf(context).tenant, 'otp');
  try {
    return await sendRead(context, sendInputOf(context, given), kind);
  } catch (error) {
    throw await withAllFaults(context, error, given);
  }
}

async function sendRead(context: Context, input: SendOtpInput, kind: SendKind): Promise<SentOtp> {
  const request = readSend(input);
  for (let attempt = 1; attempt <= MAX_TRIES; attempt += 1) {
    const sent = await sendOnce(context, input, request, kind);
    if (sent) return sent;
  }
  throw conflict('Other requests with this idempotency key came first. Try again.');
}

/**
 * @returns undefined if an earlier request with the same key died before its message was accepted; the caller then starts over
 */
async function sendOnce(
  context: Context,
  input: SendOtpInput,
  request: OtpRequest,
  kind: SendKind,
): Promise<SentOtp | undefined> {
  const { waitForAcceptance, ...repeatable } = input;
  const keyed = { operation: kind === 'send' ? 'sendOtp' : 'resendOtp', key: input.idempotencyKey, input: repeatable };
  const key = keyOf(keyed);
  let end: (() => void) | undefined;
  try {
    const { id, otp } = await once<ReservedOtp>(context, keyed, {
      run: async trx => {
        if (key !== undefined) end = await markRunning(context, key);
        return reserve(context, trx, request, kind, key ?? null);
      },
      store: reserved => ({ id: reserved.id }),
      rebuild: async stored => ({ id: (stored as { readonly id: string }).id, otp: undefined }),
    });
    if (!otp) return await repeatSend(context, id, key ?? '', waitForAcceptance === true);
    return await deliver(context, input, request, otp, kind);
  } finally {
    end?.();
  }
}

/** Has the message of a reserved code accepted, and makes the code live. */
async function deliver(
  context: Context,
  input: SendOtpInput,
  request: OtpRequest,
  otp: NewOtp,
  kind: SendKind,
): Promise<SentOtp> {
  const { id } = otp;
  const message = await accept(context, input, request, otp, kind);
  const pending = input.waitForAcceptance
    ? context.bus.awaitOutcome(tenantOf(context), message.id, context.config.network.acceptanceTimeoutMs)
    : undefined;
  try {
    const row = await activate(context, tenantOf(context), request, id, {
      id: message.id,
      contactId: message.contact_id,
    });
    const outcome = pending ? await awaitOutcome(context, message, pending.message) : message;
    const channel = await channelLoader(context).load(message.channel_id);
    const sent = row ?? (await requireOtp(context, id));
    return {
      ...publicOtp(sent),
      message: outcome,
      sandbox_code: channel?.is_sandbox ? request.code : null,
      code: input.tellCode ? request.code : null,
    };
  } finally {
    pending?.cancel();
  }
}

async function reserve(
  { secrets, config, principal }: Context,
  trx: Db,
  request: OtpRequest,
  kind: SendKind,
  idempotencyKey: string | null,
): Promise<ReservedOtp> {
  const { id: tenantId } = callerOf({ principal }).tenant;
  const caps = sendCaps(config.otp);
  const resends = kind === 'resend' ? caps.resends : undefined;
  const createdAt = await takeSend(trx, tenantId, request.phoneKey, caps.sends, resends);
  if (createdAt === undefined)
    throw capRefusal([caps.sends, ...(resends ? [resends] : [])], await readUse(trx, tenantId, request.phoneKey));
  const now = Date.parse(createdAt);
  const id = newId();
  const otp: NewOtp = {
    ...request,
    id,
    mac: macOf(secrets, tenantId, request, id, request.code),
    expiresAt: new Date(now + request.expiryMinutes * MINUTE).toISOString(),
    createdAt,
    idempotencyKey,
    hour: hourOf(now),
  };
  await insertSending(trx, tenantId, otp);
  // Last, because all sends of the tenant update the same row: this keeps the lock short.
  const { tenantSendsPerHour } = config.otp;
  if (!(await takeHour(trx, tenantId, otp.hour, tenantSendsPerHour))) throw hourRefusal(tenantSendsPerHour, now);
  return { id, otp };
}

/** Accepts the message; if it is refused, the code is removed. */
async function accept(
  context: Context,
  { channelId, contactId }: SendOtpInput,
  { phone, templateName, language, code }: OtpRequest,
  otp: NewOtp,
  kind: SendKind,
): Promise<MessageRow> {
  // The caller's idempotency key and its stored result belong to the code, not to its message.
  const inner = { ...context, replay: { wantsAnswer: false, replayed: false } };
  const sending = {
    to: phone,
    contactId,
    name: templateName,
    language,
    body: [code],
    channelId,
    idempotencyKey: messageKeyOf(otp.id),
    author: OTP_AUTHOR,
  };
  try {
    return await sendTemplate(inner, sending, AS_OTP);
  } catch (error) {
    // After any other error it is unknown whether the message was accepted: the clean-up job finds out.
    if (!(error instanceof CodedError)) throw error;
    const tenantId = tenantOf(context);
    await context.db.transaction(trx => withdrawCode(trx, tenantId, otp, kind));
    // Another request considered this send dead, ended it and took the key of the message.
    if (error.code === 'IDEMPOTENCY_MISMATCH')
      throw new CodedError('SERVICE_UNAVAILABLE', 'Sending the code took too long. Try again.');
    throw withInputFields(error);
  }
}

/**
 * Answers a repeated request. If the first request died, completes it first.
 * @returns undefined if the first request left no row
 * @throws CONFLICT while the first request runs
 */
async function repeatSend(context: Context, id: string, key: string, waits: boolean): Promise<SentOtp | undefined> {
  const tenantId = tenantOf(context);
  let row = await requireOtp(context, id);
  if (row.state === 'sending') {
    const stillRuns = await isRunning(context, key, row.age);
    // There is no stored result to return yet.
    context.replay.replayed = false;
    if (stillRuns) throw conflict('The first request with this idempotency key is still running.');
    await settle(context, tenantId, row);
    const settled = await getOtp(context.db.write, tenantId, id);
    if (!settled) return undefined;
    row = settled;
    context.replay.replayed = true;
  }
  const message = row.message_id === null ? undefined : await findMessage(context.db.write, tenantId, row.message_id);
  if (waits && message) throwIfFailed(message);
  return { ...publicOtp(row), ...(message && { message }), sandbox_code: null };
}

async function requireOtp(context: Context, id: string): Promise<AgedOtp> {
  const row = await getOtp(context.db.write, tenantOf(context), id);
  if (!row) throw notFound('One-time password');
  return row;
}

/** Returns the message once the network has accepted it, or its current state after the timeout. @throws MESSAGE_SEND_FAILED, CONTACT_OPTED_OUT */
async function awaitOutcome(
  context: Context,
  accepted: MessageRow,
  pending: Promise<EventMessage | undefined>,
): Promise<MessageRow> {
  // An outcome from before the subscription is not announced again: check the row first.
  const now = await findMessage(context.db.write, tenantOf(context), accepted.id);
  if (now && now.status !== 'queued') return outcomeOf(now, accepted);
  const outcome = await pending;
  return outcomeOf(outcome ? rowOfEvent(outcome) : accepted, accepted);
}

/** Deletes a code whose message was refused, and subtracts its send from the caps. Does nothing if it is no longer `sending`. */
export async function withdrawCode(
  trx: Db,
  tenantId: number,
  { id, phoneKey, createdAt, hour }: Pick<NewOtp, 'id' | 'phoneKey' | 'createdAt' | 'hour'>,
  kind: SendKind,
): Promise<void> {
  await lockPhones(trx, tenantId, [phoneKey]);
  if (await deleteSending(trx, tenantId, id))
    await giveBackSend(trx, tenantId, phoneKey, createdAt, kind === 'resend', hour);
}
