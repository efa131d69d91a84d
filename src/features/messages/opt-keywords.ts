import type { Db } from '../../database/database.ts';
import { getOptKeywords } from './messages.sql.ts';

/** Matches the whole message, ignoring case, spaces and punctuation: "Stop." matches, "don't stop" does not. */
export function isWord(text: string, words: readonly string[]): boolean {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return plain !== '' && words.includes(plain);
}

/** Classifies a message as an opt-out (`out`) or opt-in (`in`) keyword. */
export type OptKeywordOf = (message: {
  readonly type: string;
  readonly body: string | null;
}) => 'out' | 'in' | undefined;

export async function readOptKeywords(db: Db, tenantId: number): Promise<OptKeywordOf> {
  const words = await getOptKeywords(db, tenantId);
  return ({ type, body }) => {
    if (body === null || !isOptType(type)) return undefined;
    if (isWord(body, words.optOut)) return 'out';
    return isWord(body, words.optIn) ? 'in' : undefined;
  };
}

/** Message types that may carry a keyword: typed text, and the quick reply button of a template. */
export const isOptType = (type: string): boolean => type === 'text' || type === 'button';
