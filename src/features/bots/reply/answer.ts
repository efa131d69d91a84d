import { CodedError, type ErrorCode } from '../../../core/errors.ts';
import type { NewEvent } from '../../../core/events.ts';
import { encodeGlobalId } from '../../../core/global-ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import { append } from '../../../events/append.ts';
import type { Drain, Lane } from '../../../lanes/lane.ts';
import { exponentialBackoffMs, SECOND } from '../../../platform/clock.ts';
import type { Context, Resources } from '../../../schema/context.ts';
import { recordBotDecisions } from '../../conversations/record-bot-decisions.ts';
import { sendInteractive } from '../../messages/content/interactive/send-interactive.ts';
import { sendMedia } from '../../messages/content/media/send-media.ts';
import { findMessage } from '../../messages/loaders.ts';
import type { MessageRow } from '../../messages/message.ts';
import type { SendInput } from '../../messages/send/request.ts';
import { sendText } from '../../messages/send/send-text.ts';
import { sendTemplate } from '../../templates/sending/send-template.ts';
import { actFor } from '../../tenancy/tenants/act.ts';
import { publicBot } from '../bot.ts';
import { NEVER_ANSWERED, readContactStates } from '../engine/contact-state.sql.ts';
import { isHandedOver } from '../engine/decide.ts';
import { decideBatch, LEASE_MS } from '../engine/decide-batch.ts';
import { Patterns } from '../engine/pattern.ts';
import { clearQueue } from './inbox.sql.ts';
import {
  type BotOutcome,
  claimReplies,
  type Outcome,
  type PendingReply,
  type Refusal,
  settleReplies,
  writeOutcomes,
} from './replies.sql.ts';

/** Contacts answered concurrently per tenant: each send takes a connection of the pool for its statement. */
const MAX_CONCURRENT = 6;
/** Maximum number of pending replies claimed at once. */
const BATCH = 100;
const LINGER_MS = 2 * SECOND;
/** Pause before contacts locked by other transactions are tried again. */
const LOCKED_MS = SECOND / 20;
/** Back-off before the second attempt; doubles with each further one. */
const RETRY_MS = 2 * SECOND;

/** Transient refusals: a channel is resumed, a database recovers. All others are permanent. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['SERVICE_UNAVAILABLE', 'MESSAGING_NOT_CONFIGURED']);

/** Processes everything that waits for a tenant's bots. */
export function answerWaiting(resources: Resources): Drain {
  const patterns = new Patterns();
  return async lane => {
    while (await lane.ready()) {
      if (lane.isTurnOver()) return 'more';
      if (!(await step(resources, lane, patterns)) && !(await lane.linger(LINGER_MS))) return undefined;
    }
    return undefined;
  };
}

/**
 * Drops what waits for the bots of a tenant that may not use them any more. People have to answer it.
 * @returns whether there was anything to do
 */
async function dropWaiting(resources: Resources, lane: Lane, tenantId: number): Promise<boolean> {
  const { db, clock, signals } = resources;
  const count = await db.transaction(async trx => {
    const decisions = (await clearQueue(trx, tenantId)).map(one => ({ ...one, isAnswered: false }));
    await recordBotDecisions(trx, tenantId, decisions, new Date(clock.now()).toISOString());
    return decisions.length;
  });
  if (count > 0) signals.send('events');
  const due = await claimReplies(db.write, tenantId, BATCH, LEASE_MS);
  const outcomes: Outcome[] = [];
  for (const reply of due)
    outcomes.push(
      (await findMessage(db.write, tenantId, reply.reply_message_id))
        ? { reply }
        : refused(reply, 'FEATURE_NOT_AVAILABLE', 'The tenant is suspended, or its plan no longer includes bots.'),
    );
  await settle(resources, lane, tenantId, outcomes);
  return due.length > 0;
}

/** @returns whether there was anything to do */
async function step(resources: Resources, lane: Lane, patterns: Patterns): Promise<boolean> {
  const tenantId = Number(lane.key);
  // All replies of a batch share a context: without idempotency keys it holds nothing specific to one of them.
  const context = await actFor(resources, tenantId, 'bots', ['messages:send']);
  if (!context?.principal?.tenant.features.has('bots')) return dropWaiting(resources, lane, tenantId);
  const decided = await decideBatch(context, patterns);
  const left = await claimReplies(resources.db.write, tenantId, BATCH, LEASE_MS);
  const replies = [...left, ...decided.replies];
  if (replies.length > 0) await settle(context, lane, tenantId, await sendAll(context, lane, replies));
  else if (decided.found > 0 && decided.taken === 0) await lane.wait(LOCKED_MS);
  return decided.found > 0 || replies.length > 0;
}

/** Sends replies, concurrently across contacts and in order per contact. Never rejects. */
async function sendAll(context: Context, lane: Lane, replies: readonly PendingReply[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const queues = Map.groupBy(replies, reply => reply.contact_id).values();
  // The workers share one iterator over the contacts.
  const work = async (): Promise<void> => {
    for (const queue of queues) {
      // If the lane was lost, the rest is left to its new holder: the claims expire.
      for (const reply of queue) if (await lane.ready()) outcomes.push(await attempt(context, reply));
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return outcomes;
}

async function attempt(context: Context, reply: PendingReply): Promise<Outcome> {
  const { db, log } = context;
  try {
    // A previous process may have died after the message was accepted.
    if (reply.attempts > 1) {
      const tenantId = context.principal?.tenant.id ?? 0;
      if (await findMessage(db.write, tenantId, reply.reply_message_id)) return { reply };
      if (reply.wanted_for_ms < 0) return refused(reply, 'TOO_OLD', 'The reply was not sent in time.');
      if (!reply.is_enabled)
        return refused(reply, 'DISABLED', 'The bot was disabled or deleted before the reply was sent.');
      if (await isLeftToPeople(context, tenantId, reply))
        return refused(reply, 'HANDED_OVER', 'A person wrote to the contact before the reply was sent.');
    }
    await sendReply(context, reply);
    return { reply };
  } catch (error) {
    if (error instanceof CodedError && !TRANSIENT.has(error.code)) return refused(reply, error.code, error.message);
    const retryInMs = exponentialBackoffMs(reply.attempts - 1, { firstMs: RETRY_MS });
    const isLast = retryInMs > reply.wanted_for_ms;
    log.warn(
      { err: error, botId: reply.bot_id, messageId: reply.message_id, isLast },
      'a reply of a bot could not be sent',
    );
    if (!isLast) return { reply, retryInMs };
    return error instanceof CodedError
      ? refused(reply, error.code, error.message)
      : refused(reply, 'SERVICE_UNAVAILABLE', 'The reply could not be sent in time.');
  }
}

/** Whether a person has written since the reply was decided on, and the bot is silent after that. */
async function isLeftToPeople({ db }: Context, tenantId: number, reply: PendingReply): Promise<boolean> {
  const { nowMs, states } = await readContactStates(db.write, tenantId, [reply.contact_id], [reply.bot]);
  return isHandedOver(reply.bot, states.get(reply.contact_id) ?? NEVER_ANSWERED, nowMs);
}

/** Sends a reply from the number that was written to, quoting the message. @throws the errors of the sends */
function sendReply(context: Context, pending: PendingReply): Promise<MessageRow> {
  const { text, interactive, media, template } = pending.bot.reply;
  const to: Omit<SendInput, 'to'> & { readonly to: string } = {
    id: pending.reply_message_id,
    to: encodeGlobalId('Contact', tenantOf(context), pending.contact_id),
    channelId: pending.channel_id,
    replyToWamid: pending.wamid,
    // A person without a name gets an answer too.
    removesEmptyFields: true,
    isFromBot: true,
    author: { kind: 'bot', id: pending.bot.id, name: pending.bot.name },
  };
  if (text) return sendText(context, { ...text, ...to });
  if (interactive) return sendInteractive(context, { ...interactive, ...to });
  if (media) return sendMedia(context, { ...media, ...to });
  if (template) return sendTemplate(context, { ...template, ...to });
  throw new Error(`The bot ${pending.bot_id} has no reply.`);
}

const refused = (reply: PendingReply, code: string, message: string): Outcome => ({
  reply,
  refusal: { code, message },
});

/**
 * Records the results and appends the events of the replies in the same transaction: each once, even with concurrent attempts.
 */
async function settle(
  context: Pick<Resources, 'db' | 'clock' | 'signals'>,
  lane: Lane,
  tenantId: number,
  outcomes: readonly Outcome[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const nowIso = new Date(context.clock.now()).toISOString();
  const keyOf = (row: { readonly message_id: string; readonly bot_id: number }): string =>
    `${row.message_id} ${row.bot_id}`;
  await context.db.transaction(async trx => {
    // Before the replies are locked, as merges do. A person has to answer where the bot could not.
    await recordBotDecisions(
      trx,
      tenantId,
      outcomes.flatMap(({ reply, refusal }) =>
        refusal ? [{ contactId: reply.contact_id, channelId: reply.channel_id, isAnswered: false }] : [],
      ),
      nowIso,
    );
    const settled = new Set((await settleReplies(trx, tenantId, outcomes)).map(keyOf));
    const mine = outcomes.filter(({ reply, retryInMs }) => retryInMs === undefined && settled.has(keyOf(reply)));
    if (mine.length === 0) {
      await lane.fence(trx);
      return;
    }
    await writeOutcomes(trx, tenantId, byBot(mine, nowIso), nowIso);
    await append(
      trx,
      tenantId,
      mine.map(({ reply, refusal }) => (refusal ? skippedEvent(reply, refusal) : repliedEvent(reply))),
    );
    await lane.fence(trx);
  });
  context.signals.send('events');
}

/** The results by bot; of several refusals, the last. */
function byBot(outcomes: readonly Outcome[], nowIso: string): BotOutcome[] {
  return [...Map.groupBy(outcomes, ({ reply }) => reply.bot_id)].map(([id, of]) => {
    const refusal = of.findLast(outcome => outcome.refusal)?.refusal;
    return {
      id,
      count: of.filter(outcome => !outcome.refusal).length,
      refusal: refusal ? { ...refusal, refused_at: nowIso } : null,
    };
  });
}

const skippedEvent = (
  { bot, rule, contact_id, message_id }: PendingReply,
  { code, message }: Refusal,
): Extract<NewEvent, { type: 'bot.skipped' }> => ({
  type: 'bot.skipped',
  payload: { bot: publicBot(bot), rule, contact_id, chat_message_id: message_id, reason: code, details: message },
});

const repliedEvent = ({ bot, rule, contact_id, message_id, reply_message_id }: PendingReply): NewEvent => ({
  type: 'bot.replied',
  payload: {
    bot: publicBot(bot),
    rule,
    contact_id,
    chat_message_id: message_id,
    reply_chat_message_id: reply_message_id,
  },
});
