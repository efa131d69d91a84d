import { hash } from 'node:crypto';
import type { Answer } from './route.ts';

/** 132 bits of SHA-256. */
export const strongEtag = (body: string | Buffer): string => `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
const weakEtag = (text: string): string => `W/${strongEtag(text)}`;

/**
 * Whoever keeps an answer asks again before using it, and nobody keeps it for others. One resource has an entity tag to ask with.
 *
 * The tag is weak: it stands for `data`, while the body also has the request's id and time, so two answers with one tag are
 * equivalent and never the same to the byte (RFC 9110 §8.8.1). It is a digest of what is shown and not, say, of `updated_at`,
 * because an answer also shows what changes without the row: its groups, an included source, a service window that closes.
 * Lists have none: their total and their links change with every row, and the digest would be paid for by all and used by nobody.
 */
export const validatorOf = (answer: Answer): { readonly 'cache-control': string; readonly etag?: string } => ({
  'cache-control': 'private, no-cache',
  ...(!answer.page && { etag: weakEtag(JSON.stringify(answer.data)) }),
});

/** Whether a list of entity tags, or `*`, names this one; compared weakly, as `If-None-Match` is (RFC 9110 §13.1.2). */
export function namesEtag(list: string | undefined, etag: string): boolean {
  if (list === undefined) return false;
  if (list.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  // A tag may contain a comma.
  return [...list.matchAll(/"[^"]*"/g)].some(([tag]) => tag === opaque);
}
