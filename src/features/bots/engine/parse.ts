import { FieldErrorList } from '../../../core/errors.ts';
import type { Maybe } from '../../../core/maybe.ts';
import { isLonger } from '../../../platform/text.ts';
import { BOT_LIMITS, type BotRow, type Trigger } from '../bot.ts';
import type { GivenReply } from '../reply/reply.ts';
import { normalise } from './match.ts';
import { patternFault } from './pattern.ts';

/** The input for a bot; for an update, the fields to change. */
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
  readonly reply?: Maybe<GivenReply>;
}

/** The fields of a bot that a caller decides about, without the reply. */
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

/** Fields of which every bot has a value. */
const NEVER_NULL = [
  'name',
  'trigger',
  'isEnabled',
  'priority',
  'othersMayAnswer',
  'cooldownSeconds',
  'handOverMinutes',
  'reply',
] as const;

const WITH_KEYWORDS: ReadonlySet<Trigger> = new Set(['exact', 'contains', 'starts_with']);

/**
 * Parses a bot. Omitted fields keep their value or get the default. If the trigger changes, keywords or a pattern that the new one
 * does not use are removed; giving them is an error.
 *
 * @param before the bot that is changed
 * @throws VALIDATION_ERROR by field
 */
export function parseBot(input: BotInput, before: BotFields | undefined): BotFields {
  const errors = new FieldErrorList();
  if (before) errors.refuseNull(input, NEVER_NULL);
  const old = before ?? NEW;
  const trigger = input.trigger ?? before?.trigger ?? 'any';
  const hasKeywords = WITH_KEYWORDS.has(trigger);
  const keywords = input.keywords === undefined ? old.keywords : (input.keywords ?? []);
  const fields: BotFields = {
    name: (input.name ?? before?.name ?? '').trim(),
    trigger,
    keywords: hasKeywords ? distinct(keywords) : [],
    pattern: trigger === 'regex' ? ((input.pattern === undefined ? old.pattern : input.pattern) ?? '') : null,
    is_enabled: input.isEnabled ?? old.is_enabled,
    priority: input.priority ?? old.priority,
    others_may_answer: input.othersMayAnswer ?? old.others_may_answer,
    cooldown_seconds: input.cooldownSeconds ?? old.cooldown_seconds,
    hand_over_minutes: input.handOverMinutes ?? old.hand_over_minutes,
  };
  if (fields.name === '') errors.add('name', 'Is required.', 'REQUIRED');
  else if (isLonger(fields.name, BOT_LIMITS.name))
    errors.add('name', `May have at most ${BOT_LIMITS.name} characters.`, 'TOO_LONG');
  if (hasKeywords) checkKeywords(keywords, errors);
  else if (input.keywords?.length) errors.add('keywords', 'This trigger has no keywords.', 'SURPLUS');
  const fault = fields.pattern === null ? undefined : patternFault(fields.pattern);
  if (fault !== undefined) errors.add('pattern', fault, fields.pattern === '' ? 'REQUIRED' : 'INVALID');
  if (trigger !== 'regex' && input.pattern) errors.add('pattern', 'Only the trigger REGEX has a pattern.', 'SURPLUS');
  checkNumber('priority', fields.priority, -BOT_LIMITS.priority, BOT_LIMITS.priority, errors);
  checkNumber('cooldownSeconds', fields.cooldown_seconds, 0, BOT_LIMITS.cooldownSeconds, errors);
  checkNumber('handOverMinutes', fields.hand_over_minutes, 0, BOT_LIMITS.handOverMinutes, errors);
  errors.throwIfAny();
  return fields;
}

/** Removes keywords that are equal after normalisation; keeps the first spelling. */
function distinct(keywords: readonly string[]): string[] {
  const byNormalised = new Map<string, string>();
  for (const keyword of keywords) {
    const normalised = normalise(keyword);
    if (!byNormalised.has(normalised)) byNormalised.set(normalised, keyword.trim());
  }
  return [...byNormalised.values()];
}

function checkKeywords(keywords: readonly string[], errors: FieldErrorList): void {
  if (keywords.length === 0) errors.add('keywords', 'At least one is required.', 'REQUIRED');
  if (keywords.length > BOT_LIMITS.keywords)
    errors.add('keywords', `May have at most ${BOT_LIMITS.keywords}.`, 'TOO_MANY');
  for (const [index, keyword] of keywords.entries()) {
    const field = `keywords.${index}`;
    if (normalise(keyword) === '') errors.add(field, 'Is empty.', 'REQUIRED');
    else if (isLonger(keyword, BOT_LIMITS.keyword))
      errors.add(field, `May have at most ${BOT_LIMITS.keyword} characters.`, 'TOO_LONG');
  }
}

function checkNumber(field: string, value: number, low: number, high: number, errors: FieldErrorList): void {
  if (!Number.isInteger(value) || value < low || value > high)
    errors.add(field, `Must be from ${low} to ${high}.`, 'OUT_OF_RANGE');
}
