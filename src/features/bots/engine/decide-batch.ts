import type { NewEvent } from '../../../core/events.ts';
import { newId } from '../../../core/ids.ts';
import { tenantOf } from '../../../core/principal.ts';
import type { Db } from '../../../database/database.ts';
import { append } from '../../../events/append.ts';
import { MINUTE, SECOND } from '../../../platform/clock.ts';
import type { Context } from '../../../schema/context.ts';
import { foreignThreads, threadKey } from '../../conversations/owners.ts';
import { recordBotDecisions } from '../../conversations/record-bot-decisions.ts';
import type { BotDecision } from '../../conversations/transition.ts';
import { readOptKeywords } from '../../messages/opt-keywords.ts';
import { type BotRow, publicBot, type Rule } from '../bot.ts';
import { findOptIns, listQueued, lockContacts, type QueuedMessage, removeQueued } from '../reply/inbox.sql.ts';
import { insertReplies, type PendingReply } from '../reply/replies.sql.ts';
import { botsInOrder } from '../store.ts';
import { connectedNumbers, NEVER_ANSWERED, readContactStates } from './contact-state.sql.ts';
import { afterReply, type Candidate, decide, isOverReplyLimit, MAX_AGE_MS } from './decide.ts';
import { isAnswerable, matchAll, matchInput, prepareBots, textsOf } from './match.ts';
import type { Patterns } from './pattern.ts';

/** Messages decided on in one transaction. */
const BATCH = 100;
/** Claim duration of a reply; a send takes milliseconds. After it, the next process looks for the message, and sends it if there is none. */
export const LEASE_MS = 15 * SECOND;

export interface Decisions {
  /** Number of queued messages that were read. */
  readonly found: number;
  /** Number of messages removed from the queue, answered or not. */
  readonly taken: number;
  /** Stored, and claimed by this process. */
  readonly replies: readonly PendingReply[];
}

/** A message that at least one bot matches. */
interface Matched {
  readonly message: QueuedMessage;
  readonly contactId: number;
  readonly candidates: readonly Candidate<BotRow>[];
  /** Past the maximum age: reported as skipped instead of answered. */
  readonly isTooOld: boolean;
}

/**
 * Decides on the messages that have waited longest, and stores the replies. Cool-downs, reply limits and "one bot per message" are
 * checked with the contacts locked, because other processes decide concurrently; patterns, which take time, are matched before.
 */
export async function decideBatch(context: Context, patterns: Patterns): Promise<Decisions> {
  const { db } = context;
  const tenantId = tenantOf(context);
  const bots = await botsInOrder(db.write, tenantId, 'enabled');
  const waiting = await listQueued(
    db.write,
    tenantId,
    BATCH,
    bots.some(bot => bot.trigger === 'first_message'),
  );
  if (waiting.length === 0) return { found: 0, taken: 0, replies: [] };
  const matched = await matchQueued(waiting, bots, patterns);
  const silent = await findUnanswerable(context, matched);
  const open = matched.filter(one => !silent.has(one.message.message_id));
  const { taken, replies } = await db.transaction(trx => storeReplies(context, trx, waiting, open));
  return { found: waiting.length, taken, replies };
}

async function matchQueued(
  waiting: readonly QueuedMessage[],
  bots: readonly BotRow[],
  patterns: Patterns,
): Promise<Matched[]> {
  const ready = prepareBots(bots, patterns);
  const matched: Matched[] = [];
  for (const message of waiting) {
    const { contact_id: contactId } = message;
    if (contactId === null || !isAnswerable(message.type)) continue;
    const input = matchInput(textsOf({ ...message, direction: 'inbound' }), message.is_first);
    const candidates = await matchAll(ready, input);
    if (candidates.some(({ rule }) => rule)) {
      matched.push({ message, contactId, candidates, isTooOld: message.age_ms > MAX_AGE_MS });
    }
  }
  return matched;
}

/** Finds messages that no bot answers: opt-out and opt-in words, messages from connected numbers, and threads owned by another app. */
async function findUnanswerable(context: Context, matched: readonly Matched[]): Promise<Set<string>> {
  if (matched.length === 0) return new Set();
  const { read } = context.db;
  const tenantId = tenantOf(context);
  const messages = matched.map(({ message }) => message);
  const [wordOf, isOwn] = await Promise.all([readOptKeywords(read, tenantId), connectedNumbers(read, messages)]);
  const inWords = messages.filter(message => wordOf(message) === 'in');
  const silent = inWords.length === 0 ? new Set<string>() : await findOptIns(read, tenantId, inWords);
  const threads = matched.map(({ contactId, message }) => ({ contactId, channelId: message.channel_id }));
  const foreign = await foreignThreads(read, tenantId, threads);
  for (const { contactId, message } of matched)
    if (foreign.has(threadKey({ contactId, channelId: message.channel_id }))) silent.add(message.message_id);
  for (const message of messages) if (wordOf(message) === 'out' || isOwn(message)) silent.add(message.message_id);
  return silent;
}

async function storeReplies(
  context: Context,
  trx: Db,
  waiting: readonly QueuedMessage[],
  matched: readonly Matched[],
): Promise<Pick<Decisions, 'taken' | 'replies'>> {
  const tenantId = tenantOf(context);
  const contactIds = [...new Set(matched.map(one => one.contactId))];
  const locked = contactIds.length === 0 ? new Map() : await lockContacts(trx, tenantId, contactIds);
  const later = new Set(matched.filter(one => !locked.has(one.contactId)).map(one => one.message.message_id));
  const taken = await removeQueued(
    trx,
    tenantId,
    waiting.map(message => message.message_id).filter(id => !later.has(id)),
  );
  const decidable = matched.filter(one => taken.has(one.message.message_id) && !locked.get(one.contactId)?.isOptedOut);
  const { replies, skips } = await repliesTo(context, trx, decidable);
  await append(trx, tenantId, skips);
  await recordBotDecisions(
    trx,
    tenantId,
    decisionsOn(waiting, taken, replies),
    new Date(context.clock.now()).toISOString(),
  );
  if (replies.length > 0) await insertReplies(trx, tenantId, replies, LEASE_MS);
  return { taken: taken.size, replies };
}

/** Whether a bot answers the messages that were taken, in order of arrival. A reaction asks for no answer. */
function decisionsOn(
  waiting: readonly QueuedMessage[],
  taken: ReadonlySet<string>,
  replies: readonly PendingReply[],
): BotDecision[] {
  const answered = new Set(replies.map(reply => reply.message_id));
  return waiting.flatMap(({ message_id: id, contact_id: contactId, channel_id: channelId, type }) =>
    contactId === null || type === 'reaction' || !taken.has(id)
      ? []
      : [{ contactId, channelId, isAnswered: answered.has(id) }],
  );
}

/** Decides on messages in order of arrival, because each reply counts towards the limits of the next. */
async function repliesTo(
  context: Context,
  trx: Db,
  matched: readonly Matched[],
): Promise<{ readonly replies: readonly PendingReply[]; readonly skips: readonly NewEvent[] }> {
  const { log } = context;
  const tenantId = tenantOf(context);
  if (matched.length === 0) return { replies: [], skips: [] };
  const bots = new Map(
    matched.flatMap(({ candidates }) => candidates.filter(({ rule }) => rule).map(({ bot }) => [bot.id, bot] as const)),
  );
  const contactIds = [...new Set(matched.map(one => one.contactId))];
  const { nowMs: now, states } = await readContactStates(trx, tenantId, contactIds, [...bots.values()]);
  const replies: PendingReply[] = [];
  const skips: NewEvent[] = [];
  for (const { message, contactId, candidates, isTooOld } of matched) {
    let state = states.get(contactId) ?? NEVER_ANSWERED;
    for (const { bot, rule, reason } of decide(candidates, state, now)) {
      if (reason !== undefined || !rule) continue;
      if (isTooOld) {
        skips.push(tooOld(bot, rule, contactId, message.message_id));
        continue;
      }
      if (isOverReplyLimit(state.repliedAt, now)) {
        log.warn(
          { tenantId, contactId, botId: bot.id },
          'no bot replies to a contact: it received too many replies recently',
        );
        break;
      }
      state = afterReply(state, bot.id, now);
      replies.push({
        message_id: message.message_id,
        bot_id: bot.id,
        reply_message_id: newId(),
        contact_id: contactId,
        channel_id: message.channel_id,
        rule,
        bot,
        attempts: 1,
        wanted_for_ms: MAX_AGE_MS - message.age_ms,
        wamid: message.wamid,
        is_enabled: true,
      });
    }
    states.set(contactId, state);
  }
  return { replies, skips };
}

const tooOld = (bot: BotRow, rule: Rule, contactId: number, messageId: string): NewEvent => ({
  type: 'bot.skipped',
  payload: {
    bot: publicBot(bot),
    rule,
    contact_id: contactId,
    chat_message_id: messageId,
    reason: 'TOO_OLD',
    details: `The message was read more than ${MAX_AGE_MS / MINUTE} minutes after it was sent.`,
  },
});
