import type { Context } from '../../context.ts';
import { CodedError, conflict, invalid, notFound } from '../../errors.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import { newId } from '../../platform/ids.ts';
import { violationOf } from '../../platform/violations.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { findMessage } from '../messages/find.ts';
import type { MessageRow } from '../messages/message.ts';
import { ACCEPTANCE_TIMEOUT_MS, outcomeOf, throwIfFailed } from '../messages/outcome.ts';
import { type SendAs, sendTemplate } from '../templates/send-template.ts';
import { requireFeature } from '../tenants/feature.ts';
import { activate } from './activate.ts';
import { capRefusal, hourOf, hourRefusal, sendCaps, windowStart } from './caps.ts';
import { giveBackSend, readUse, takeHour, takeSend } from './caps-store.ts';
import { macOf } from './code.ts';
import { type OtpRow, publicOtp, type SentOtp } from './otp.ts';
import { type OtpRequest, readSend, type SendOtpInput } from './request.ts';
import { deleteSending, getOtp, insertSending, type NewOtp, takeBack } from './store.ts';

export type SendKind = 'send' | 'resend';

/** The message of a code is accepted under an idempotency key of the code's own: that it was stands in the database, whoever dies. */
export const AS_OTP: SendAs = { operation: 'otp', feature: 'otp' };
export const messageKeyOf = (otpId: string): string => `${MESSAGE_KEY_PREFIX}${otpId}`;
export const MESSAGE_KEY_PREFIX = 'otp:';

interface Asked {
  readonly id: string;
  /** Written by this request; undefined: by an earlier one with the same idempotency key. */
  readonly otp: NewOtp | undefined;
}

/**
 * Sends a one-time password by a template of the category AUTHENTICATION. It replaces the live code of its phone number and
 * purpose as soon as its message is accepted; a send that is refused leaves that one alone.
 *
 * Accepting a message is a statement of its own, so the code is written in two steps around it:
 *
 * 1. One transaction takes the caps, the caller's idempotency key and a row with the state `sending`, which nobody can verify.
 * 2. The message is accepted, under the idempotency key `otp:<id>`.
 * 3. One transaction makes the row `live` and the one before `replaced`, with the event.
 *
 * So no code is live whose message was not accepted. Nor does one stay dead whose message was: between 2 and 3 lie a few
 * milliseconds, too few for a person to read a code in; and should the process die there, the key of step 2, which was
 * written with the message, tells the clean-up job that step 3 is to be done. (The other order, live first and back again
 * where the message is refused, would take the good code away for that time, and for ever if the process died.)
 * Whoever waits for the network does so behind step 3: a person may type faster than the network answers us. When it refuses
 * the message meanwhile, the code before gets its place back.
 *
 * @throws VALIDATION_ERROR, RATE_LIMIT_EXCEEDED with retry_after, FEATURE_NOT_AVAILABLE, and what `send` of messages does
 */
export async function sendOtp(context: Context, input: SendOtpInput, kind: SendKind = 'send'): Promise<SentOtp> {
  requireFeature(callerOf(context).tenant, 'otp');
  const request = readSend(input);
  const { waitForAcceptance, ...asked } = input;
  const keyed = { operation: kind === 'send' ? 'sendOtp' : 'resendOtp', key: input.idempotencyKey, input: asked };
  const { id, otp } = await once<Asked>(context, keyed, {
    run: async trx => reserve(context, trx, request, kind, input.idempotencyKey || null),
    store: reserved => ({ id: reserved.id }),
    again: async stored => ({ id: (stored as { readonly id: string }).id, otp: undefined }),
  });
  if (!otp) return again(context, id, waitForAcceptance === true);
  const message = await accept(context, input, request, otp, kind);
  const settled = waitForAcceptance
    ? context.bus.settled(tenantOf(context), message.id, ACCEPTANCE_TIMEOUT_MS)
    : undefined;
  try {
    const row = await activate(context, tenantOf(context), request, id, {
      id: message.id,
      contactId: message.contact_id,
    });
    const outcome = settled ? await settledOf(context, message, settled.message) : message;
    const channel = await context.loaders.channel.load(message.channel_id);
    const sent = row ?? (await known(context, id));
    return {
      ...publicOtp(sent),
      message: outcome,
      sandbox_code: channel?.is_sandbox ? request.code : null,
      code: input.tellCode ? request.code : null,
    };
  } catch (error) {
    if (error instanceof CodedError && error.code === 'MESSAGE_SEND_FAILED') await withdraw(context, id);
    throw error;
  } finally {
    settled?.cancel();
  }
}

async function reserve(
  { secrets, config, clock, principal }: Context,
  trx: Db,
  request: OtpRequest,
  kind: SendKind,
  idempotencyKey: string | null,
): Promise<Asked> {
  const { id: tenantId } = callerOf({ principal }).tenant;
  const [id, now] = [newId(), clock.now()];
  const [createdAt, caps] = [new Date(now).toISOString(), sendCaps(config.otp)];
  const otp: NewOtp = {
    ...request,
    id,
    mac: macOf(secrets, tenantId, request, id, request.code),
    expiresAt: new Date(now + request.expiryMinutes * MINUTE).toISOString(),
    createdAt,
    idempotencyKey,
    hour: hourOf(now),
  };
  const sends = { since: windowStart(now, caps.sends), max: caps.sends.max };
  const resends = kind === 'resend' ? { since: windowStart(now, caps.resends), max: caps.resends.max } : undefined;
  if (!(await takeSend(trx, tenantId, request.phoneKey, createdAt, sends, resends))) {
    const taken = kind === 'resend' ? [caps.sends, caps.resends] : [caps.sends];
    throw capRefusal(taken, await readUse(trx, tenantId, request.phoneKey), now);
  }
  await insertSending(trx, tenantId, otp);
  // Last, because all sends of the tenant count on the same row: it is locked for as short as can be.
  const { tenantSendsPerHour } = config.otp;
  if (!(await takeHour(trx, tenantId, otp.hour, tenantSendsPerHour))) throw hourRefusal(tenantSendsPerHour, now);
  return { id, otp };
}

/** Has the message accepted; where it is refused, nothing is left of the code. */
async function accept(
  context: Context,
  { channelId }: SendOtpInput,
  { phone, templateName, language, code }: OtpRequest,
  otp: NewOtp,
  kind: SendKind,
): Promise<MessageRow> {
  // The caller's idempotency key, and what is replayed under it, are the matter of the code, not of its message.
  const inside = { ...context, replay: { wantsAnswer: false, replayed: false } };
  const sending = {
    to: phone,
    name: templateName,
    language,
    body: [code],
    channelId,
    idempotencyKey: messageKeyOf(otp.id),
  };
  try {
    return await sendTemplate(inside, sending, AS_OTP);
  } catch (error) {
    // Any other error leaves open whether the message was accepted: the clean-up job finds out.
    if (!(error instanceof CodedError)) throw error;
    const tenantId = tenantOf(context);
    await context.db.transaction(async trx => {
      if (await deleteSending(trx, tenantId, otp.id))
        await giveBackSend(trx, tenantId, otp.phoneKey, otp.createdAt, kind === 'resend', otp.hour);
    });
    throw inOurNames(error);
  }
}

/** What the template's send calls otherwise than this one. */
const NAMES: Readonly<Record<string, string>> = {
  name: 'templateName',
  to: 'phone',
  'body.0': 'code',
  'buttons.0': 'code',
};

function inOurNames(error: CodedError): CodedError {
  if (error.code !== 'VALIDATION_ERROR') return error;
  const fields = Object.entries((error.details ?? {}) as Record<string, readonly string[]>);
  return invalid(Object.fromEntries(fields.map(([name, messages]) => [NAMES[name] ?? name, messages])));
}

/** Answers a repeated request. */
async function again(context: Context, id: string, waits: boolean): Promise<SentOtp> {
  const row = await known(context, id);
  if (row.state === 'sending' || row.message_id === null) {
    // There is no answer yet that this one could repeat.
    context.replay.replayed = false;
    throw conflict('The first request with this idempotency key is still running.');
  }
  const message = await findMessage(context.db.write, tenantOf(context), row.message_id);
  if (waits && message) throwIfFailed(message);
  return { ...publicOtp(row), ...(message && { message }), sandbox_code: null };
}

async function known(context: Context, id: string): Promise<OtpRow> {
  const row = await getOtp(context.db.write, tenantOf(context), id);
  if (!row) throw notFound('One-time password');
  return row;
}

/** The message once the network took it, or as it is when the time is over. @throws MESSAGE_SEND_FAILED */
async function settledOf(
  context: Context,
  accepted: MessageRow,
  settled: Promise<MessageRow | undefined>,
): Promise<MessageRow> {
  // What settled before we listened is told by nobody again.
  const now = await findMessage(context.db.write, tenantOf(context), accepted.id);
  return outcomeOf(now && now.status !== 'queued' ? now : ((await settled) ?? accepted), accepted);
}

/** The code whose message the network refused gives its place back. */
async function withdraw(context: Context, id: string): Promise<void> {
  try {
    await takeBack(context.db.write, tenantOf(context), id, new Date(context.clock.now()).toISOString());
  } catch (error) {
    // A later code has come in between: it stays.
    if (violationOf(error)?.constraint !== 'otps_live_key') throw error;
  }
}
