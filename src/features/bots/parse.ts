import { FieldErrorList } from '../../errors.ts';
import { isLonger } from '../../platform/text.ts';
import { type BotRow, MAX, type Trigger } from './bot.ts';
import { normalise } from './match.ts';
import { patternFault } from './pattern.ts';
import type { BotReply } from './reply.ts';

type Maybe<T> = T | null | undefined;

/** A bot as callers describe it; of a change what is to be changed. */
export interface BotInput {
  readonly name?: Maybe<string>;
  readonly trigger?: Maybe<Trigger>;
  readonly keywords?: Maybe<readonly string[]>;
  readonly pattern?: Maybe<string>;
  readonly isEnabled?: Maybe<boolean>;
  readonly priority?: Maybe<number>;
  readonly othersMayAnswer?: Maybe<boolean>;
  readonly cooldownSeconds?: Maybe<number>;
  readonly handOverMinutes?: Maybe<number>;
  readonly reply?: Maybe<BotReply>;
}

/** What a caller decides about a bot, but for its reply. */
export type BotFields = Pick<
  BotRow,
  | 'name'
  | 'trigger'
  | 'keywords'
  | 'pattern'
  | 'is_enabled'
  | 'priority'
  | 'others_may_answer'
  | 'cooldown_seconds'
  | 'hand_over_minutes'
>;

const NEW: Omit<BotFields, 'name' | 'trigger'> = {
  keywords: [],
  pattern: null,
  is_enabled: true,
  priority: 0,
  others_may_answer: false,
  cooldown_seconds: 0,
  hand_over_minutes: 0,
};

const WITH_KEYWORDS: ReadonlySet<Trigger> = new Set(['exact', 'contains', 'starts_with']);

/**
 * Reads a bot. What is not said stays as it was, or is as for a new one; what a new trigger has no use for goes with the old one,
 * unless it is given beside it.
 *
 * @param before the bot that is changed
 * @throws VALIDATION_ERROR by field
 */
export function parseBot(input: BotInput, before: BotFields | undefined): BotFields {
  const errors = new FieldErrorList();
  const old = before ?? NEW;
  const trigger = input.trigger ?? before?.trigger ?? 'any';
  const hasKeywords = WITH_KEYWORDS.has(trigger);
  const fields: BotFields = {
    name: (input.name ?? before?.name ?? '').trim(),
    trigger,
    keywords: hasKeywords ? distinct(input.keywords ?? old.keywords) : [],
    pattern: trigger === 'regex' ? (input.pattern ?? old.pattern ?? '') : null,
    is_enabled: input.isEnabled ?? old.is_enabled,
    priority: input.priority ?? old.priority,
    others_may_answer: input.othersMayAnswer ?? old.others_may_answer,
    cooldown_seconds: input.cooldownSeconds ?? old.cooldown_seconds,
    hand_over_minutes: input.handOverMinutes ?? old.hand_over_minutes,
  };
  if (fields.name === '') errors.add('name', 'Is required.');
  else if (isLonger(fields.name, MAX.name)) errors.add('name', `May have at most ${MAX.name} characters.`);
  if (hasKeywords) checkKeywords(input.keywords ?? old.keywords, errors);
  else if (input.keywords?.length) errors.add('keywords', 'This trigger has no keywords.');
  const fault = fields.pattern === null ? undefined : patternFault(fields.pattern);
  if (fault !== undefined) errors.add('pattern', fault);
  if (trigger !== 'regex' && input.pattern) errors.add('pattern', 'Only the trigger REGEX has a pattern.');
  checkNumber('priority', fields.priority, -MAX.priority, MAX.priority, errors);
  checkNumber('cooldownSeconds', fields.cooldown_seconds, 0, MAX.cooldownSeconds, errors);
  checkNumber('handOverMinutes', fields.hand_over_minutes, 0, MAX.handOverMinutes, errors);
  errors.throwIfAny();
  return fields;
}

/** One of those that compare alike, as it was written first. */
function distinct(keywords: readonly string[]): string[] {
  const byMeaning = new Map<string, string>();
  for (const keyword of keywords) {
    const meaning = normalise(keyword);
    if (!byMeaning.has(meaning)) byMeaning.set(meaning, keyword.trim());
  }
  return [...byMeaning.values()];
}

function checkKeywords(keywords: readonly string[], errors: FieldErrorList): void {
  if (keywords.length === 0) errors.add('keywords', 'Needs at least one.');
  if (keywords.length > MAX.keywords) errors.add('keywords', `May have at most ${MAX.keywords}.`);
  for (const [index, keyword] of keywords.entries()) {
    const field = `keywords.${index}`;
    if (normalise(keyword) === '') errors.add(field, 'Is empty.');
    else if (isLonger(keyword, MAX.keyword)) errors.add(field, `May have at most ${MAX.keyword} characters.`);
  }
}

function checkNumber(field: string, value: number, low: number, high: number, errors: FieldErrorList): void {
  if (!Number.isInteger(value) || value < low || value > high) errors.add(field, `Must be from ${low} to ${high}.`);
}
