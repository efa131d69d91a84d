import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import pg from 'pg';

export type StatementObserver = (text: string) => void;

/**
 * Prepared statements by the hash of their text: the server parses and plans each text once per connection (33,000
 * against 16,000 primary-key look-ups a second here). Our texts do not vary with the data (`= any($1)`, never `in (…)`),
 * so they are few; the cache is a bound, not a tuning knob.
 */
const names = new LRUCache<string, string>({ max: 2_000 });

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `p${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`;
    names.set(text, name);
  }
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
      return send({ name: nameOf(first), text: first, values }, callback);
    };
    this.query = query as typeof this.query;
  }
}
