import { sql } from 'kysely';
import type { Db } from '../../platform/database.ts';

export interface OptWords {
  readonly optOut: readonly string[];
  readonly optIn: readonly string[];
}

/** The words by which people of this tenant leave and come back. */
export async function wordsOf(db: Db, tenantId: number): Promise<OptWords> {
  const { rows } = await sql<OptWords>`
    select opt_out_words as "optOut", opt_in_words as "optIn" from tenants where tenant_id = ${tenantId}`.execute(db);
  return rows[0] ?? { optOut: [], optIn: [] };
}

/** The whole message is the word, whatever its case, spaces and punctuation: "Stop." leaves, "don't stop" does not. */
export function isWord(text: string, words: readonly string[]): boolean {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  return plain !== '' && words.includes(plain);
}
