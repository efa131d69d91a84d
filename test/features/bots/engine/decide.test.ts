import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  afterReply,
  type Candidate,
  type ContactState,
  decide,
  isOverReplyLimit,
  REPLY_LIMITS,
} from '../../../../src/features/bots/engine/decide.ts';
import { HOUR, MINUTE, SECOND } from '../../../../src/platform/clock.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');

const candidate: fc.Arbitrary<Candidate> = fc.record({
  bot: fc.record({
    id: fc.integer({ min: 1, max: 8 }),
    trigger: fc.constantFrom('exact', 'first_message', 'any'),
    others_may_answer: fc.boolean(),
    cooldown_seconds: fc.constantFrom(0, 60, 3_600),
    hand_over_minutes: fc.constantFrom(0, 10),
    is_enabled: fc.boolean(),
  }),
  rule: fc.constantFrom(undefined, { trigger: 'any' as const, keyword: null }),
});
const ago = fc.integer({ min: 0, max: 2 * HOUR }).map(ms => NOW - ms);
const state: fc.Arbitrary<ContactState> = fc.record({
  repliedAt: fc.array(ago, { maxLength: 30 }).map(times => times.sort((a, b) => b - a)),
  lastByBot: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 8 }), ago), { selector: ([id]) => id })
    .map(of => new Map(of)),
  personAt: fc.option(ago, { nil: undefined }),
  enabled: fc.constant(undefined),
});
const cases = fc.tuple(fc.uniqueArray(candidate, { selector: ({ bot }) => bot.id }), state);

describe('a decision', () => {
  test('lets only bots answer that match, are enabled, and are neither cooling down nor handed over', () => {
    fc.assert(
      fc.property(cases, ([candidates, known]) => {
        for (const { bot, rule, reason } of decide(candidates, known, NOW)) {
          if (reason !== undefined) continue;
          expect(rule).toBeDefined();
          expect(bot.is_enabled).toBe(true);
          const last = known.lastByBot.get(bot.id);
          if (last !== undefined) expect(NOW - last).toBeGreaterThanOrEqual(bot.cooldown_seconds * SECOND);
          if (known.personAt !== undefined)
            expect(NOW - known.personAt).toBeGreaterThanOrEqual(bot.hand_over_minutes * MINUTE);
        }
      }),
    );
  });

  test('gives a verdict for every bot, and lets a second bot answer only if all previous ones allow it', () => {
    fc.assert(
      fc.property(cases, ([candidates, known]) => {
        const verdicts = decide(candidates, known, NOW);
        expect(verdicts.map(({ bot }) => bot.id)).toEqual(candidates.map(({ bot }) => bot.id));
        const answering = verdicts.filter(({ reason }) => reason === undefined);
        for (const { bot } of answering.slice(0, -1)) expect(bot.others_may_answer).toBe(true);
        // Somebody answers whenever somebody could.
        if (verdicts.some(({ reason }) => reason === 'ANOTHER_ANSWERS')) expect(answering).not.toEqual([]);
      }),
    );
  });

  test('does not depend on bots that do not match', () => {
    fc.assert(
      fc.property(cases, ([candidates, known]) => {
        const answering = (of: readonly Candidate[]) =>
          decide(of, known, NOW)
            .filter(({ reason }) => reason === undefined)
            .map(({ bot }) => bot.id);
        expect(answering(candidates.filter(({ rule, bot }) => rule && bot.is_enabled))).toEqual(answering(candidates));
      }),
    );
  });
});

describe('the reply limit', () => {
  /** Somebody who writes every `everyMs`, answered whenever the brake allows. @returns how often, in `forMs` */
  function conversation(everyMs: number, forMs: number): number {
    let known: ContactState = { repliedAt: [], lastByBot: new Map(), personAt: undefined, enabled: undefined };
    let count = 0;
    for (let at = 0; at < forMs; at += everyMs) {
      if (isOverReplyLimit(known.repliedAt, NOW + at)) continue;
      known = afterReply(known, 1, NOW + at);
      count += 1;
    }
    return count;
  }

  test('allows human conversations and ends every loop between machines', () => {
    expect(conversation(MINUTE, 15 * MINUTE)).toBe(15);
    expect(conversation(SECOND, HOUR)).toBe(20);
    // For ever, however slow: some hundred a day at the most.
    for (const everyMs of [SECOND, 35 * SECOND, 5 * MINUTE, 10 * MINUTE])
      expect(conversation(everyMs, 48 * HOUR)).toBeLessThanOrEqual(300);
  });

  test('depends only on the latest replies, at any rhythm', () => {
    fc.assert(
      fc.property(fc.array(ago, { maxLength: 130 }), times => {
        const latest = times.sort((a, b) => b - a);
        const braked = REPLY_LIMITS.some(
          ({ replies, withinMs, pauseMs }) =>
            latest.length >= replies &&
            (latest[0] ?? 0) - (latest[replies - 1] ?? 0) <= withinMs &&
            NOW < (latest[0] ?? 0) + pauseMs,
        );
        expect(isOverReplyLimit(latest, NOW)).toBe(braked);
      }),
    );
  });
});
