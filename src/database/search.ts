import { invalid } from '../core/errors.ts';
import type { Parameters } from './list-sql.ts';
import { PLANNED_AT_EACH_CALL } from './statements.ts';

/** Alternative words, of which a text must contain at least one. */
export type SearchTerm = readonly [string, ...string[]];

/** Each required word costs an index scan. */
const MAX_WORDS = 10;

/**
 * Splits a search into its words, all of which are required.
 * @throws VALIDATION_ERROR on `search`: too many words
 */
export function searchWords(text: string | null | undefined): SearchTerm[] {
  const words = new Set(text?.split(/\s+/).filter(Boolean));
  if (words.size > MAX_WORDS) throw invalid({ search: [`Must have at most ${MAX_WORDS} words.`] });
  return [...words].map(word => [word]);
}

/**
 * The predicate of terms, all of which are required. It is planned at each call: among a million contacts, a page of those with two
 * common words takes 2 ms in the order of the list, but 2 s by the trigram index, which a generic plan uses.
 */
export const searchSql = (parameters: Parameters, folded: string, terms: readonly SearchTerm[]): string =>
  `${PLANNED_AT_EACH_CALL} ${terms.map(term => termSql(parameters, folded, term)).join(' and ')}`;

/**
 * The predicate of a term. Case and diacritics are folded by the database on both sides, because its rules for them differ from
 * JavaScript's.
 * @param folded SQL expression of the searched text
 */
function termSql(parameters: Parameters, folded: string, term: SearchTerm): string {
  const alternatives = term.map(word => `${folded} like search_pattern(${parameters.add(word, 'text')})`);
  return `(${alternatives.join(' or ')})`;
}
