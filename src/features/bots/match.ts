import { setImmediate } from 'node:timers/promises';
import { replyOf } from '../interactive/reply.ts';
import type { PublicMessage } from '../messages/message.ts';
import type { BotRow, Rule } from './bot.ts';
import type { Patterns } from './pattern.ts';

/** What a bot compares with a message. */
export type Matcher = Pick<BotRow, 'trigger' | 'keywords' | 'pattern'>;

/**
 * How texts are compared: whatever their case, width and composition, and the amount of white space. By capitals first, so that
 * letters which have one and the same are the same (`ß` and `ss`, the two small sigmas, the Turkish `ı` and `i`; `İ` keeps a dot,
 * which goes). What is not seen does not count: marks of direction, joiners, soft hyphens, and the selector that makes a heart
 * red, all of which one keyboard sets and another leaves out.
 */
export const normalise = (text: string): string =>
  // Composed once more, because small letters may compose where the large ones did not.
  squeeze(fold(text.normalize('NFKC').replace(UNSEEN, '')).normalize('NFKC').replace(UNSEEN, ''));

const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;

const fold = (text: string): string =>
  // `ẞ` has a small letter, and only that has the capitals `SS`.
  text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');

const squeeze = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** A message as bots see it. */
export interface Heard {
  /** What may match: the text or caption; of an answer what stood on the button or row, and its id. */
  readonly texts: readonly string[];
  /** The same, normalised. */
  readonly folded: readonly string[];
  /** Whether it is the contact's first one. */
  readonly isFirst: boolean;
}

/** As many characters of a message are looked at: the network's longest text. */
const MAX_HEARD = 4_096;

export function heardOf(given: readonly string[], isFirst: boolean): Heard {
  const texts = given.map(text => text.slice(0, MAX_HEARD));
  return { texts, folded: texts.map(normalise), isFirst };
}

/** A bot made ready for many messages. */
export interface Ready<Bot extends Matcher> {
  readonly bot: Bot;
  readonly match: Match;
}

/** Bots between two pauses: a thousand keywords, compared with the longest text, take some 4 ms. */
const AT_ONCE = 20;

/**
 * What each bot makes of a message. Expressions take time, and a tenant may have twenty, or two hundred bots with fifty keywords:
 * others of this process get their turn before each expression, and now and then.
 */
export async function matchAll<Bot extends Matcher>(
  ready: readonly Ready<Bot>[],
  heard: Heard,
): Promise<{ readonly bot: Bot; readonly rule: Rule | undefined }[]> {
  const matched: { bot: Bot; rule: Rule | undefined }[] = [];
  for (const [index, { bot, match }] of ready.entries()) {
    if (bot.trigger === 'regex' || index % AT_ONCE === AT_ONCE - 1) await setImmediate();
    matched.push({ bot, rule: match(heard) });
  }
  return matched;
}

export const readyOf = <Bot extends Matcher>(bots: readonly Bot[], patterns: Patterns): Ready<Bot>[] =>
  bots.map(bot => ({ bot, match: matchOf(bot, patterns) }));

/** Types that people write. What else comes in (reactions, system notes, what is not known) is no question to be answered. */
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

export const isAnswerable = (type: string): boolean => ANSWERABLE.has(type);

export function textsOf(message: Pick<PublicMessage, 'direction' | 'type' | 'body' | 'content'>): string[] {
  const reply = replyOf(message);
  const texts = [message.body, reply?.title, reply?.id].filter(text => text != null && text !== '');
  return [...new Set(texts as string[])];
}

/** Says what of a bot fits a message; undefined when nothing does. */
export type Match = (heard: Heard) => Rule | undefined;

/** Reads what a bot compares once, for many messages. */
export function matchOf({ trigger, keywords, pattern }: Matcher, patterns: Patterns): Match {
  const folded = keywords.map(keyword => [keyword, normalise(keyword)] as const);
  const word =
    (fits: (text: string, keyword: string) => boolean): Match =>
    heard => {
      const [keyword] = folded.find(([, one]) => one !== '' && heard.folded.some(text => fits(text, one))) ?? [];
      return keyword === undefined ? undefined : { trigger, keyword };
    };
  switch (trigger) {
    case 'exact':
      return word((text, keyword) => text === keyword);
    case 'starts_with':
      return word((text, keyword) => text.startsWith(keyword));
    case 'contains':
      // Anywhere, also within a word: that is what the word means to people, and not every script has spaces between words.
      return word((text, keyword) => text.includes(keyword));
    case 'regex': {
      const expression = pattern ?? '';
      const rule = { trigger, keyword: expression };
      return ({ texts }) =>
        texts.some(text => patterns.test(expression, squeeze(text.normalize('NFKC')))) ? rule : undefined;
    }
    case 'first_message':
      return ({ isFirst }) => (isFirst ? { trigger, keyword: null } : undefined);
    case 'any':
      return () => ({ trigger, keyword: null });
  }
}
