import type { Db } from '../../database/database.ts';
import { foldText } from '../../platform/text.ts';
import { allOptWords } from '../tenancy/account/opt-words.ts';
import { getOptWords } from './messages.sql.ts';

/**
 * Matches the whole message, ignoring case, diacritics, spaces and punctuation: "Stop." matches, "don't stop" does not.
 * @param words folded by `foldText`
 */
export function isWord(text: string, words: ReadonlySet<string>): boolean {
  return words.has(foldText(text));
}

/** The words of a list, as `isWord` compares them. */
export const wordSet = (words: readonly string[]): ReadonlySet<string> => new Set(words.map(foldText).filter(Boolean));

/** Classifies a message as an opt-out (`out`) or opt-in (`in`) keyword. */
export type OptKeywordOf = (message: {
  readonly type: string;
  readonly body: string | null;
}) => 'out' | 'in' | undefined;

/** Longer texts are no keyword: folding them would cost more than it finds. */
const MAX_TEXT = 200;

export async function readOptKeywords(db: Db, tenantId: number): Promise<OptKeywordOf> {
  const words = allOptWords(await getOptWords(db, tenantId));
  const [optOut, optIn] = [wordSet(words.opt_out_words), wordSet(words.opt_in_words)];
  return ({ type, body }) => {
    if (body === null || body.length > MAX_TEXT || !isOptType(type)) return undefined;
    if (isWord(body, optOut)) return 'out';
    return isWord(body, optIn) ? 'in' : undefined;
  };
}

/** Message types that may carry a keyword: typed text, and the quick reply button of a template. */
export const isOptType = (type: string): boolean => type === 'text' || type === 'button';
