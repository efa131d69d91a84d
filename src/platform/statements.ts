import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg from 'pg';

export type StatementObserver = (text: string) => void;

/**
 * Prepared statements by the hash of their text: the server parses and plans each text once per connection (33,000
 * against 16,000 primary-key look-ups a second here). Our texts do not vary with the data (`= any($1)`, never `in (…)`),
 * but those of a list do with what is selected, filtered and sorted, and a connection keeps what it has prepared until it
 * ends. So a text is prepared from its second use on, and only so many are: who asks in ever new ways pays by himself.
 */
const names = new Map<string, string>();
const seenOnce = new LRUCache<string, true>({ max: 1_000 });
export const MAX_PREPARED = 1_000;

/** @returns undefined for a text that is not to be prepared */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_PREPARED) return known;
  if (!seenOnce.has(text)) {
    seenOnce.set(text, true);
    return undefined;
  }
  seenOnce.delete(text);
  const name = `p${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`;
  names.set(text, name);
  return name;
}

/** A connection whose parameterised statements are prepared under a name, and observed where somebody asks for it. */
export class NamedClient extends pg.Client {
  readonly #observe: StatementObserver | undefined;

  constructor(config: pg.ClientConfig & { onStatement?: StatementObserver | undefined }) {
    super(config);
    this.#observe = config.onStatement;
    // pg overloads query() ten times over; kysely and pg-boss call it as (text, values) and with a config object only.
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    const query = (first: unknown, values?: unknown, callback?: unknown): unknown => {
      if (typeof first !== 'string') return send(first, values, callback);
      this.#observe?.(first);
      if (!Array.isArray(values) || values.length === 0) return send(first, values, callback);
      const name = nameOf(first);
      return name === undefined ? send(first, values, callback) : send({ name, text: first, values }, callback);
    };
    this.query = query as typeof this.query;
  }
}
