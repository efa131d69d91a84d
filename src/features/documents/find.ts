import { LRUCache } from 'lru-cache';
import { DAY, HOUR } from '../../platform/clock.ts';
import type { Resources } from '../../schema/context.ts';
import { findDocuments, touchDocument } from './store.ts';

/** Published documents by tenant and digest. */
export interface PublishedDocuments {
  /** @param digest SHA-256 in hexadecimal, lower case */
  find(tenantId: number, digest: string): Promise<string | undefined>;
}

const MAX_DOCUMENTS = 5_000;
const MAX_CHARACTERS = 20_000_000;
/** After this a document in use is read again, which notes its use. */
const MAX_AGE_MS = HOUR;

/** Looks documents up in the database, with a cache: a document never changes, because its digest is its key. */
export function createPublishedDocuments({
  db,
  clock,
  log,
}: Pick<Resources, 'db' | 'clock' | 'log'>): PublishedDocuments {
  const cache = new LRUCache<string, string>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: body => body.length + 1,
    ttl: MAX_AGE_MS,
  });

  return {
    async find(tenantId, digest) {
      const key = `${tenantId}:${digest}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const hash = Buffer.from(digest, 'hex');
      const [row] = await findDocuments(db.read, tenantId, [hash]);
      if (!row) return undefined;
      cache.set(key, row.body);
      // Once a day is precise enough for a retention of half a year.
      if (row.last_used_at === null || Date.parse(row.last_used_at) < clock.now() - DAY)
        touchDocument(db.write, tenantId, hash).catch(error =>
          log.warn({ err: error }, 'the use of a trusted document could not be noted'),
        );
      return row.body;
    },
  };
}
