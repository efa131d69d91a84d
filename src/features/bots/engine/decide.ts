import { HOUR, MINUTE, SECOND } from '../../../platform/clock.ts';
import type { BotRow, Rule } from '../bot.ts';

/** Maximum age of messages that are answered: after hours of downtime, people have moved on. */
export const MAX_AGE_MS = 5 * MINUTE;

/**
 * Loop protection against machines that answer bots: a contact that has received this many bot replies within the interval gets
 * no more for a while. A person who walks through menus causes some ten in ten minutes; two machines cause ten in as many
 * seconds, or, slowly, one a minute for ever. Each round costs the tenant a message.
 */
export const REPLY_LIMITS = [
  { replies: 20, withinMs: 10 * MINUTE, pauseMs: HOUR },
  { replies: 100, withinMs: 24 * HOUR, pauseMs: 24 * HOUR },
] as const;

/** Number of past replies that the loop protection needs. */
export const REMEMBERED_REPLIES = Math.max(...REPLY_LIMITS.map(({ replies }) => replies));

/** Why no bot answers a message. */
export const SILENCES = [
  'TOO_OLD',
  'NOT_ANSWERABLE',
  'OPTED_OUT',
  'OPT_WORD',
  'OWN_NUMBER',
  'TOO_MANY_REPLIES',
] as const;
export type Silence = (typeof SILENCES)[number];

/** Why one bot does not answer a message. */
export const REASONS = ['NO_MATCH', 'DISABLED', 'COOLING_DOWN', 'HANDED_OVER', 'GREETED', 'ANOTHER_ANSWERS'] as const;
export type Reason = (typeof REASONS)[number];

/** Input of a decision besides the message. */
export interface ContactState {
  /** Times of bot replies, latest first, at most REMEMBERED_REPLIES. Milliseconds. */
  readonly repliedAt: readonly number[];
  /** Time of each bot's last reply. Milliseconds. */
  readonly lastByBot: ReadonlyMap<number, number>;
  /** Time of the last message from a person of the tenant; undefined if long ago. Milliseconds. */
  readonly personAt: number | undefined;
  /** Bots still enabled, if checked again. */
  readonly enabled: ReadonlySet<number> | undefined;
}

export type Deciding = Pick<
  BotRow,
  'id' | 'trigger' | 'others_may_answer' | 'cooldown_seconds' | 'hand_over_minutes' | 'is_enabled'
>;

/** A bot with its match. */
export interface Candidate<Bot extends Deciding = Deciding> {
  readonly bot: Bot;
  readonly rule: Rule | undefined;
}

export interface Verdict<Bot extends Deciding> extends Candidate<Bot> {
  /** Undefined if it answers. */
  readonly reason: Reason | undefined;
}

/** Whether a contact has received too many replies recently. @param repliedAt latest first */
export function isOverReplyLimit(repliedAt: readonly number[], nowMs: number): boolean {
  return REPLY_LIMITS.some(({ replies, withinMs, pauseMs }) => {
    const [last, first] = [repliedAt[0], repliedAt[replies - 1]];
    return last !== undefined && first !== undefined && last - first <= withinMs && nowMs < last + pauseMs;
  });
}

/**
 * Evaluates the bots in order: the first that matches and is allowed to answers; later ones answer only if all matching ones
 * before them allow it. Bots in cool-down or handed over are skipped.
 *
 * @param candidates by priority
 */
export function decide<Bot extends Deciding>(
  candidates: readonly Candidate<Bot>[],
  state: ContactState,
  nowMs: number,
): Verdict<Bot>[] {
  let isTaken = false;
  return candidates.map(({ bot, rule }) => {
    const reason = reasonOf(bot, rule, state, nowMs) ?? (isTaken ? 'ANOTHER_ANSWERS' : undefined);
    if (reason === undefined && !bot.others_may_answer) isTaken = true;
    return { bot, rule, reason };
  });
}

function reasonOf(bot: Deciding, rule: Rule | undefined, state: ContactState, nowMs: number): Reason | undefined {
  if (!bot.is_enabled || state.enabled?.has(bot.id) === false) return 'DISABLED';
  if (!rule) return 'NO_MATCH';
  const last = state.lastByBot.get(bot.id);
  // With clock skew, two messages may each look like the first: welcome a contact once only.
  if (bot.trigger === 'first_message' && last !== undefined) return 'GREETED';
  if (last !== undefined && nowMs < last + bot.cooldown_seconds * SECOND) return 'COOLING_DOWN';
  return isHandedOver(bot, state, nowMs) ? 'HANDED_OVER' : undefined;
}

/** Whether a bot is silent because a person has written to the contact. */
export const isHandedOver = (
  { hand_over_minutes: minutes }: Pick<Deciding, 'hand_over_minutes'>,
  { personAt }: Pick<ContactState, 'personAt'>,
  nowMs: number,
): boolean => personAt !== undefined && nowMs < personAt + minutes * MINUTE;

/** Returns the state of a contact after a bot's reply. */
export const afterReply = (state: ContactState, botId: number, nowMs: number): ContactState => ({
  ...state,
  repliedAt: [nowMs, ...state.repliedAt].slice(0, REMEMBERED_REPLIES),
  lastByBot: new Map([...state.lastByBot, [botId, nowMs]]),
});
