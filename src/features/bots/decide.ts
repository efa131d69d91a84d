import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import type { BotRow, Rule } from './bot.ts';

/** Older messages are not answered: a gateway that was down for hours must not answer what people have long settled otherwise. */
export const MAX_AGE_MS = 5 * MINUTE;

/**
 * The brake against machines that answer our answers: whoever has got so many replies of bots within so long gets no more for a
 * while. A person who walks through menus makes some ten in ten minutes; two machines make ten in as many seconds, or, slowly,
 * one a minute for ever. Each round costs the tenant a message.
 */
export const BRAKES = [
  { replies: 20, withinMs: 10 * MINUTE, silentMs: HOUR },
  { replies: 100, withinMs: 24 * HOUR, silentMs: 24 * HOUR },
] as const;

/** As many replies as the brakes look back on. */
export const REMEMBERED_REPLIES = Math.max(...BRAKES.map(({ replies }) => replies));

/** Why a message gets no answer at all. */
export const SILENCES = [
  'TOO_OLD',
  'NOT_ANSWERABLE',
  'OPTED_OUT',
  'OPT_WORD',
  'OWN_NUMBER',
  'TOO_MANY_REPLIES',
] as const;
export type Silence = (typeof SILENCES)[number];

/** Why a bot does not answer a message. */
export const REASONS = ['NO_MATCH', 'DISABLED', 'COOLING_DOWN', 'HANDED_OVER', 'GREETED', 'ANOTHER_ANSWERS'] as const;
export type Reason = (typeof REASONS)[number];

/** What a decision needs to know of the contact, besides the message. */
export interface Standing {
  /** When bots answered, latest first: as many as REMEMBERED_REPLIES. Milliseconds. */
  readonly repliedAt: readonly number[];
  /** When each bot last answered. Milliseconds. */
  readonly lastByBot: ReadonlyMap<number, number>;
  /** When a person of the tenant last wrote; undefined: long ago. Milliseconds. */
  readonly personAt: number | undefined;
  /** Bots that are enabled still, where that was looked at once more. */
  readonly enabled: ReadonlySet<number> | undefined;
}

export type Deciding = Pick<
  BotRow,
  'id' | 'trigger' | 'others_may_answer' | 'cooldown_seconds' | 'hand_over_minutes' | 'is_enabled'
>;

/** A bot with what of it matched. */
export interface Candidate<Bot extends Deciding = Deciding> {
  readonly bot: Bot;
  readonly rule: Rule | undefined;
}

export interface Verdict<Bot extends Deciding> extends Candidate<Bot> {
  /** Undefined: it answers. */
  readonly reason: Reason | undefined;
}

/** Whether too many replies have gone to a contact lately. @param repliedAt latest first */
export function isBraked(repliedAt: readonly number[], nowMs: number): boolean {
  return BRAKES.some(({ replies, withinMs, silentMs }) => {
    const [last, first] = [repliedAt[0], repliedAt[replies - 1]];
    return last !== undefined && first !== undefined && last - first <= withinMs && nowMs < last + silentMs;
  });
}

/**
 * Goes through the bots in their order: the first that matches and may speak answers, and those behind it only as long as all
 * before them let others answer too. A bot that cools down or has handed over is as if it were not there.
 *
 * @param candidates by priority
 */
export function decide<Bot extends Deciding>(
  candidates: readonly Candidate<Bot>[],
  standing: Standing,
  nowMs: number,
): Verdict<Bot>[] {
  let isTaken = false;
  return candidates.map(({ bot, rule }) => {
    const reason = reasonOf(bot, rule, standing, nowMs) ?? (isTaken ? 'ANOTHER_ANSWERS' : undefined);
    if (reason === undefined && !bot.others_may_answer) isTaken = true;
    return { bot, rule, reason };
  });
}

function reasonOf(bot: Deciding, rule: Rule | undefined, standing: Standing, nowMs: number): Reason | undefined {
  if (!bot.is_enabled || standing.enabled?.has(bot.id) === false) return 'DISABLED';
  if (!rule) return 'NO_MATCH';
  const last = standing.lastByBot.get(bot.id);
  // Two messages may each look like the first, where clocks differ: nobody is welcomed twice.
  if (bot.trigger === 'first_message' && last !== undefined) return 'GREETED';
  if (last !== undefined && nowMs < last + bot.cooldown_seconds * SECOND) return 'COOLING_DOWN';
  const { personAt } = standing;
  return personAt !== undefined && nowMs < personAt + bot.hand_over_minutes * MINUTE ? 'HANDED_OVER' : undefined;
}

/** What is known of a contact once a bot has answered. */
export const afterReply = (standing: Standing, botId: number, nowMs: number): Standing => ({
  ...standing,
  repliedAt: [nowMs, ...standing.repliedAt].slice(0, REMEMBERED_REPLIES),
  lastByBot: new Map([...standing.lastByBot, [botId, nowMs]]),
});
