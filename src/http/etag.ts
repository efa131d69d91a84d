import { hash } from 'node:crypto';
import fresh from 'fresh';

/** 132 bits of SHA-256. */
export const strongEtag = (body: string | Buffer): string => `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
/** For a body that may be compressed: a strong tag would stand for one of its content codings (RFC 9110 §8.8.3.3). */
export const weakEtag = (body: string | Buffer): string => `W/${strongEtag(body)}`;
/** The entity tag of the data of one resource. */
export const etagOf = (data: unknown): string => weakEtag(JSON.stringify(data));

/**
 * Cache headers of a response: private, revalidated before each use, with an entity tag for a single resource.
 *
 * The tag is weak, because the body also contains the request's id and time: responses with the same tag are equivalent, not identical
 * (RFC 9110 §8.8.1). It is a digest of `data` rather than of `updated_at`, because parts of a response change without the row: its
 * groups, an included source, a service window that closes. Lists have no tag: their total and links change with every row, so the
 * digest would cost each request and rarely match.
 */
export const cacheHeaders = (answer: {
  readonly data: unknown;
  readonly page?: unknown;
}): { readonly 'cache-control': string; readonly etag?: string } => ({
  'cache-control': 'private, no-cache',
  ...(!answer.page && { etag: etagOf(answer.data) }),
});

/** Whether `If-None-Match` contains this entity tag or is `*`; a weak comparison (RFC 9110 §13.1.2). */
export const namesEtag = (list: string | undefined, etag: string): boolean =>
  fresh({ 'if-none-match': list?.trim() }, { etag });
