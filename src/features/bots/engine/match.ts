import { setImmediate } from 'node:timers/promises';
import { replyOf } from '../../messages/content/interactive/reply.ts';
import type { PublicMessage } from '../../messages/message.ts';
import type { BotRow, Rule } from '../bot.ts';
import type { Patterns } from './pattern.ts';

/** The fields of a bot that are compared with a message. */
export type Matcher = Pick<BotRow, 'trigger' | 'keywords' | 'pattern'>;

/**
 * Normalises a text for comparison: ignores case, width, composition, the amount of white space, and invisible characters
 * (direction marks, joiners, soft hyphens, variation selectors), which some keyboards insert and others do not. Case is folded by
 * way of upper case, so that letters with the same capital are equal: `ß` and `ss`, both small sigmas, the Turkish `ı` and `i`.
 * The dot that `İ` leaves is removed.
 */
export const normalise = (text: string): string =>
  // Composed again: lower-case letters may compose where the upper-case ones did not.
  collapseSpaces(fold(text.normalize('NFKC').replace(UNSEEN, '')).normalize('NFKC').replace(UNSEEN, ''));

const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;

const fold = (text: string): string =>
  // Lower case first: `ẞ` has no other upper case, but its lower case `ß` becomes `SS`.
  text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');

const collapseSpaces = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** A message in the form that bots match. */
export interface MatchInput {
  /** The text or caption; for the reply to buttons or a list, the title and the id. */
  readonly texts: readonly string[];
  /** The same, normalised. */
  readonly folded: readonly string[];
  /** Whether it is the contact's first message. */
  readonly isFirst: boolean;
}

/** Characters of a message that are matched: the network's maximum for a text. */
const MAX_TEXT = 4_096;

export function matchInput(given: readonly string[], isFirst: boolean): MatchInput {
  const texts = given.map(text => text.slice(0, MAX_TEXT));
  return { texts, folded: texts.map(normalise), isFirst };
}

/** A bot with its compiled matcher, for many messages. */
export interface PreparedBot<Bot extends Matcher> {
  readonly bot: Bot;
  readonly match: Match;
}

/** Bots matched between two yields: a thousand keywords take about 4 ms on the longest text. */
const YIELD_EVERY = 20;

/**
 * Matches a message with each bot. A tenant may have twenty patterns, or two hundred bots with fifty keywords each: yields to the
 * event loop before each pattern and after every few bots.
 */
export async function matchAll<Bot extends Matcher>(
  ready: readonly PreparedBot<Bot>[],
  input: MatchInput,
): Promise<{ readonly bot: Bot; readonly rule: Rule | undefined }[]> {
  const matched: { bot: Bot; rule: Rule | undefined }[] = [];
  for (const [index, { bot, match }] of ready.entries()) {
    if (bot.trigger === 'regex' || index % YIELD_EVERY === YIELD_EVERY - 1) await setImmediate();
    matched.push({ bot, rule: match(input) });
  }
  return matched;
}

export const prepareBots = <Bot extends Matcher>(bots: readonly Bot[], patterns: Patterns): PreparedBot<Bot>[] =>
  bots.map(bot => ({ bot, match: matchOf(bot, patterns) }));

/** Message types that bots answer; not reactions, system messages and unknown types. */
const ANSWERABLE: ReadonlySet<string> = new Set([
  'text',
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'location',
  'contacts',
  'button',
  'interactive',
  'order',
]);

export const ANSWERABLE_TYPES: readonly string[] = [...ANSWERABLE];

export const isAnswerable = (type: string): boolean => ANSWERABLE.has(type);

export function textsOf(message: Pick<PublicMessage, 'direction' | 'type' | 'body' | 'content'>): string[] {
  const reply = replyOf(message);
  const texts = [message.body, reply?.title, reply?.id].filter(text => text != null && text !== '');
  return [...new Set(texts as string[])];
}

/** Returns the rule of the bot that matches; undefined if none does. */
export type Match = (input: MatchInput) => Rule | undefined;

/** Prepares the matcher of a bot. */
export function matchOf({ trigger, keywords, pattern }: Matcher, patterns: Patterns): Match {
  const folded = keywords.map(keyword => [keyword, normalise(keyword)] as const);
  const word =
    (fits: (text: string, keyword: string) => boolean): Match =>
    input => {
      const [keyword] = folded.find(([, one]) => one !== '' && input.folded.some(text => fits(text, one))) ?? [];
      return keyword === undefined ? undefined : { trigger, keyword };
    };
  switch (trigger) {
    case 'exact':
      return word((text, keyword) => text === keyword);
    case 'starts_with':
      return word((text, keyword) => text.startsWith(keyword));
    case 'contains':
      // Also within a word: not every script separates words by spaces.
      return word((text, keyword) => text.includes(keyword));
    case 'regex': {
      const expression = pattern ?? '';
      const rule = { trigger, keyword: expression };
      return ({ texts }) =>
        texts.some(text => patterns.test(expression, collapseSpaces(text.normalize('NFKC')))) ? rule : undefined;
    }
    case 'first_message':
      return ({ isFirst }) => (isFirst ? { trigger, keyword: null } : undefined);
    case 'any':
      return () => ({ trigger, keyword: null });
  }
}
