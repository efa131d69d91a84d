import { setImmediate } from 'node:timers/promises';
import { invalid, notFound } from '../../../core/errors.ts';
import { isUuid } from '../../../core/ids.ts';
import { requireFeature } from '../../../core/plan-features.ts';
import { callerOf } from '../../../core/principal.ts';
import { SECOND } from '../../../platform/clock.ts';
import type { Context } from '../../../schema/context.ts';
import { readOptKeywords } from '../../messages/opt-keywords.ts';
import type { BotRow, Rule } from '../bot.ts';
import { connectedNumbers, NEVER_ANSWERED } from '../engine/contact-state.sql.ts';
import { afterReply, type ContactState, decide, isOverReplyLimit, type Silence } from '../engine/decide.ts';
import { ANSWERABLE_TYPES, matchAll, matchInput, normalise, prepareBots, textsOf } from '../engine/match.ts';
import { Patterns } from '../engine/pattern.ts';
import { botsInOrder } from '../store.ts';
import { listPast, type PastMessage } from './history.sql.ts';

/** Messages of one request. */
export const MAX_TRIED = 20_000;
/** Matching time per request: patterns may take 45 ms a text. The next request continues after the last message tried. */
export const MATCHING_MS = 2 * SECOND;
/** Messages that are decided on before other requests get a turn. */
const YIELD_EVERY = 50;

export interface HistoryArgs {
  /** ISO 8601. */
  readonly since: string;
  /** `endCursor` of the request before. */
  readonly after: string | undefined;
  /** Tries this bot alone, as if it were enabled. */
  readonly botId: number | undefined;
}

export interface PastAnswer {
  readonly bot: BotRow;
  readonly rule: Rule | undefined;
}

/** Messages that read the same to a bot. */
export interface TriedText {
  /** As the latest of them was written; empty for one without a text. */
  text: string;
  readonly messageIds: string[];
  /** How many of them would have been answered. */
  answeredCount: number;
  /** Answers to the latest message that was answered, or the reasons why the latest was not. */
  answers: readonly PastAnswer[];
  silence: Silence | undefined;
}

export interface BotHistory {
  readonly messageCount: number;
  readonly answeredCount: number;
  readonly byBot: ReadonlyMap<BotRow, number>;
  /** By frequency. */
  readonly texts: readonly TriedText[];
  /** Id of the last message that was tried, if there are more; undefined at the end. */
  readonly endCursor: string | undefined;
}

interface Decided {
  readonly answers: readonly PastAnswer[];
  readonly silence: Silence | undefined;
}

/**
 * Replays past messages against the present bots, in the order of arrival, with the matching, cool-downs, hand-overs, opt-out words
 * and limits of the live bots. Each contact starts without earlier replies.
 *
 * @throws VALIDATION_ERROR (after), NOT_FOUND (bot), FEATURE_NOT_AVAILABLE
 */
export async function previewHistory(context: Context, { since, after, botId }: HistoryArgs): Promise<BotHistory> {
  const { tenant } = callerOf(context);
  requireFeature(tenant, 'bots');
  if (after !== undefined && !isUuid(after)) throw invalid({ after: ['Is no cursor of this list.'] }, 'INVALID');
  const { read } = context.db;
  const all = await botsInOrder(read, tenant.id, botId === undefined ? 'enabled' : 'all');
  const bots =
    botId === undefined ? all : all.filter(({ id }) => id === botId).map(bot => ({ ...bot, is_enabled: true }));
  if (botId !== undefined && bots.length === 0) throw notFound('Bot');
  const needs = {
    askWhetherFirst: bots.some(({ trigger }) => trigger === 'first_message'),
    handOverMinutes: Math.max(0, ...bots.map(bot => bot.hand_over_minutes)),
  };
  const [messages, wordOf] = await Promise.all([
    listPast(read, tenant.id, { since, after }, ANSWERABLE_TYPES, needs, MAX_TRIED),
    readOptKeywords(read, tenant.id),
  ]);
  const isOwn = await connectedNumbers(read, messages);
  const ready = prepareBots(bots, new Patterns());
  const states = new Map<number, ContactState>();
  const texts = new Map<string, TriedText>();
  const byBot = new Map<BotRow, number>(bots.map(bot => [bot, 0]));
  const matched = new Map<string, Awaited<ReturnType<typeof matchAll<BotRow>>>>();

  const decideOn = async (message: PastMessage, given: readonly string[]): Promise<Decided> => {
    const word = wordOf(message);
    if (word === 'out' || (word === 'in' && message.is_opted_out)) return silent('OPT_WORD');
    if (message.is_opted_out) return silent('OPTED_OUT');
    if (isOwn(message)) return silent('OWN_NUMBER');
    const known = states.get(message.contact_id) ?? NEVER_ANSWERED;
    if (isOverReplyLimit(known.repliedAt, message.at_ms)) return silent('TOO_MANY_REPLIES');
    // Equal texts are matched once.
    const key = JSON.stringify([message.is_first, ...given]);
    const candidates = matched.get(key) ?? (await matchAll(ready, matchInput(given, message.is_first)));
    matched.set(key, candidates);
    const personAt = message.person_at === null ? undefined : Date.parse(message.person_at);
    let state: ContactState = { ...known, personAt };
    const answers = decide(candidates, state, message.at_ms).filter(({ reason }) => reason === undefined);
    for (const { bot } of answers) {
      state = afterReply(state, bot.id, message.at_ms);
      byBot.set(bot, (byBot.get(bot) ?? 0) + 1);
    }
    if (answers.length > 0) states.set(message.contact_id, state);
    return { answers, silence: undefined };
  };

  const deadline = performance.now() + MATCHING_MS;
  let tried = 0;
  let answeredCount = 0;
  for (const message of messages) {
    if (tried > 0 && performance.now() > deadline) break;
    const given = textsOf({ ...message, direction: 'inbound' } as Parameters<typeof textsOf>[0]);
    const decided = await decideOn(message, given);
    note(texts, message, given, decided);
    if (decided.answers.length > 0) answeredCount++;
    if (++tried % YIELD_EVERY === 0) await setImmediate();
  }
  const hasMore = tried < messages.length || messages.length === MAX_TRIED;
  return {
    messageCount: tried,
    answeredCount,
    byBot,
    texts: [...texts.values()].sort((one, other) => other.messageIds.length - one.messageIds.length),
    endCursor: hasMore ? messages[tried - 1]?.id : undefined,
  };
}

const silent = (silence: Silence): Decided => ({ answers: [], silence });

/** Counts a message with those that read the same. */
function note(
  texts: Map<string, TriedText>,
  message: PastMessage,
  given: readonly string[],
  { answers, silence }: Decided,
): void {
  const [text = ''] = given;
  const key = given.map(normalise).join('\n');
  const known = texts.get(key);
  if (!known) {
    const answeredCount = answers.length > 0 ? 1 : 0;
    texts.set(key, { text, messageIds: [message.id], answeredCount, answers, silence });
    return;
  }
  known.messageIds.push(message.id);
  known.text = text;
  if (answers.length > 0) Object.assign(known, { answers, silence: undefined, answeredCount: known.answeredCount + 1 });
  else if (known.answeredCount === 0) known.silence = silence;
}
