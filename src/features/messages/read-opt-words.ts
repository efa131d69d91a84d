import type { Db } from '../../platform/database.ts';
import { isWord, wordsOf } from './opt-words.ts';

/** Says of a message whether it is one of the words by which people leave (`out`) or come back (`in`). */
export type OptWordOf = (message: { readonly type: string; readonly body: string | null }) => 'out' | 'in' | undefined;

/** The opt words of a tenant, as what comes in is compared with them. */
export async function readOptWords(db: Db, tenantId: number): Promise<OptWordOf> {
  const words = await wordsOf(db, tenantId);
  return ({ type, body }) => {
    if (body === null || !isOptType(type)) return undefined;
    if (isWord(body, words.optOut)) return 'out';
    return isWord(body, words.optIn) ? 'in' : undefined;
  };
}

/** Types of messages by which people leave and come back: what is typed, and the quick reply button of a template. */
export const isOptType = (type: string): boolean => type === 'text' || type === 'button';
