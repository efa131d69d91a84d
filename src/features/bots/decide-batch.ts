import type { Context } from '../../context.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Db } from '../../platform/database.ts';
import { newId } from '../../platform/ids.ts';
import { tenantOf } from '../caller.ts';
import { readOptWords } from '../messages/read-opt-words.ts';
import type { BotRow } from './bot.ts';
import { afterReply, type Candidate, decide, isBraked, MAX_AGE_MS } from './decide.ts';
import { broughtBack, listWaiting, lockContacts, takeWaiting, type Waiting } from './inbox-store.ts';
import { heardOf, isAnswerable, matchAll, readyOf, textsOf } from './match.ts';
import type { Patterns } from './pattern.ts';
import { insertReplies, type PendingReply } from './replies-store.ts';
import { NEVER_ANSWERED, ownNumbers, standingsOf } from './standing.ts';
import { botsInOrder } from './store.ts';

/** Messages decided on in one transaction. */
const BATCH = 100;
/** A send takes some milliseconds. Whoever comes after this finds what became of it, and sends only where nothing did. */
export const LEASE_MS = 15 * SECOND;

export interface Decided {
  /** How many messages were found waiting. */
  readonly found: number;
  /** How many of them are done with: they are answered, or nobody answers them. */
  readonly taken: number;
  /** Noted, and claimed by this process. */
  readonly replies: readonly PendingReply[];
}

/** A message that at least one bot matches. */
interface Matched {
  readonly message: Waiting;
  readonly contactId: number;
  readonly candidates: readonly Candidate<BotRow>[];
}

/**
 * Decides on the messages that have waited longest, and notes the answers. What has to hold whoever else decides at the same
 * time (cool-downs, the brake, one bot for a message) is looked at with the contacts locked; what takes time (expressions) is
 * done before.
 */
export async function decideBatch(context: Context, patterns: Patterns): Promise<Decided> {
  const { db } = context;
  const tenantId = tenantOf(context);
  const bots = await botsInOrder(db.write, tenantId, 'enabled');
  const waiting = await listWaiting(
    db.write,
    tenantId,
    BATCH,
    bots.some(bot => bot.trigger === 'first_message'),
  );
  if (waiting.length === 0) return { found: 0, taken: 0, replies: [] };
  const matched = await matchWaiting(context, waiting, bots, patterns);
  const silent = await silentOf(context, matched);
  const open = matched.filter(one => !silent.has(one.message.message_id));
  const { taken, replies } = await db.transaction(trx => note(context, trx, waiting, open));
  return { found: waiting.length, taken, replies };
}

async function matchWaiting(
  context: Context,
  waiting: readonly Waiting[],
  bots: readonly BotRow[],
  patterns: Patterns,
): Promise<Matched[]> {
  const ready = readyOf(bots, patterns);
  const oldest = context.clock.now() - MAX_AGE_MS;
  const matched: Matched[] = [];
  for (const message of waiting) {
    const { contact_id: contactId } = message;
    if (contactId === null || !isAnswerable(message.type) || Date.parse(message.sent_at) < oldest) continue;
    const heard = heardOf(textsOf({ ...message, direction: 'inbound' }), message.is_first);
    const candidates = await matchAll(ready, heard);
    if (candidates.some(({ rule }) => rule)) matched.push({ message, contactId, candidates });
  }
  return matched;
}

/** Messages that no bot answers, whatever it matches: those by which people leave or come back, and those of our own numbers. */
async function silentOf(context: Context, matched: readonly Matched[]): Promise<Set<string>> {
  if (matched.length === 0) return new Set();
  const { read } = context.db;
  const tenantId = tenantOf(context);
  const messages = matched.map(({ message }) => message);
  const [wordOf, isOwn] = await Promise.all([readOptWords(read, tenantId), ownNumbers(read, messages)]);
  const inWords = messages.filter(message => wordOf(message) === 'in');
  const silent = inWords.length === 0 ? new Set<string>() : await broughtBack(read, tenantId, inWords);
  for (const message of messages) if (wordOf(message) === 'out' || isOwn(message)) silent.add(message.message_id);
  return silent;
}

async function note(
  context: Context,
  trx: Db,
  waiting: readonly Waiting[],
  matched: readonly Matched[],
): Promise<Pick<Decided, 'taken' | 'replies'>> {
  const tenantId = tenantOf(context);
  const contactIds = [...new Set(matched.map(one => one.contactId))];
  const locked = contactIds.length === 0 ? new Map() : await lockContacts(trx, tenantId, contactIds);
  const later = new Set(matched.filter(one => !locked.has(one.contactId)).map(one => one.message.message_id));
  const taken = await takeWaiting(
    trx,
    tenantId,
    waiting.map(message => message.message_id).filter(id => !later.has(id)),
  );
  const decidable = matched.filter(one => taken.has(one.message.message_id) && !locked.get(one.contactId)?.isOptedOut);
  const replies = await repliesTo(context, trx, decidable);
  const now = context.clock.now();
  const iso = (ms: number): string => new Date(ms).toISOString();
  if (replies.length > 0) await insertReplies(trx, tenantId, replies, iso(now), iso(now + LEASE_MS));
  return { taken: taken.size, replies };
}

/** Goes through messages in the order in which they came: what one is answered counts for the next. */
async function repliesTo(context: Context, trx: Db, matched: readonly Matched[]): Promise<PendingReply[]> {
  const { clock, log } = context;
  const tenantId = tenantOf(context);
  const now = clock.now();
  const bots = new Map(
    matched.flatMap(({ candidates }) => candidates.filter(({ rule }) => rule).map(({ bot }) => [bot.id, bot] as const)),
  );
  const contactIds = [...new Set(matched.map(one => one.contactId))];
  const standings = await standingsOf(trx, tenantId, contactIds, [...bots.values()], now);
  const replies: PendingReply[] = [];
  for (const { message, contactId, candidates } of matched) {
    let standing = standings.get(contactId) ?? NEVER_ANSWERED;
    for (const { bot, rule, reason } of decide(candidates, standing, now)) {
      if (reason !== undefined || !rule) continue;
      if (isBraked(standing.repliedAt, now)) {
        log.warn(
          { tenantId, contactId, botId: bot.id },
          'bots are silent for a contact: it got too many replies lately',
        );
        break;
      }
      standing = afterReply(standing, bot.id, now);
      replies.push({
        message_id: message.message_id,
        bot_id: bot.id,
        reply_message_id: newId(),
        contact_id: contactId,
        channel_id: message.channel_id,
        rule,
        bot,
        attempts: 1,
        give_up_at: new Date(Date.parse(message.sent_at) + MAX_AGE_MS).toISOString(),
        wamid: message.wamid,
        is_enabled: true,
      });
    }
    standings.set(contactId, standing);
  }
  return replies;
}
