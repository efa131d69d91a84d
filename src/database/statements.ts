import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';
import pg from 'pg';

export type StatementObserver = (text: string) => void;

export const MAX_PREPARED = 1_000;

/**
 * Marks a statement whose best plan depends on its values: it is not prepared, so PostgreSQL plans it for these values at each call.
 * For a prepared statement it may switch to a generic plan after five calls, which treats a common word like a rare one.
 */
export const PLANNED_AT_EACH_CALL = '/* planned at each call */';

/**
 * Names of prepared statements, by text: the server parses and plans each text once per connection (33,000
 * primary-key look-ups a second here, 16,000 without names). Most texts do not vary with the data (`= any($1)`, never `in (…)`), but those of lists
 * vary with selection, filter, order and page size, and a connection keeps prepared statements until it closes. Therefore a text is prepared
 * at its second use, and at most MAX_PREPARED texts are; those of a client that varies its queries endlessly are not.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #seenOnce = new LRUCache<string, true>({ max: 1_000 });

  /** @returns undefined if the text is not prepared */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_PREPARED || text.includes(PLANNED_AT_EACH_CALL)) return known;
    if (!this.#seenOnce.has(text)) {
      this.#seenOnce.set(text, true);
      return undefined;
    }
    this.#seenOnce.delete(text);
    const name = `p${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`;
    this.#names.set(text, name);
    return name;
  }
}

export interface NamedClientConfig extends pg.ClientConfig {
  readonly onStatement?: StatementObserver | undefined;
  /** The connection is destroyed if a response is outstanding and no data arrives for this long; 0: never. */
  readonly silenceLimitMs: number;
  /** Statements are prepared under these names, which needs a session. */
  readonly names?: StatementNames;
}

/** The socket is missing from pg's types. */
type Internals = pg.ClientBase & { readonly connection: { readonly stream: Socket } };

const CHECKS_PER_LIMIT = 10;

/**
 * Destroys a connection whose server became unreachable during a statement. TCP retransmits for a quarter of an hour before it
 * gives up, and pg's `query_timeout` leaves the broken connection in the pool.
 */
class SilenceWatch {
  readonly #client: Internals;
  readonly #limitMs: number;
  #isWaiting = false;
  /** Set while a transaction has raised its statement timeout. */
  #isUnlimited = false;
  #lastDataMs = 0;

  constructor(client: pg.ClientBase, limitMs: number) {
    this.#client = client as Internals;
    this.#limitMs = limitMs;
    if (limitMs === 0) return;
    client.once('connect', () => this.#watch());
    // No statement is outstanding.
    client.on('drain', () => {
      this.#isWaiting = false;
    });
  }

  /** Call before a statement is sent. */
  start(statement: unknown): void {
    if (!this.#isWaiting) this.#lastDataMs = performance.now();
    this.#isWaiting = true;
    if (typeof statement !== 'string') return;
    if (statement.includes('statement_timeout')) this.#isUnlimited = true;
    else if (this.#isUnlimited && /^(commit|rollback)$/i.test(statement)) this.#isUnlimited = false;
  }

  #watch(): void {
    const { stream } = this.#client.connection;
    stream.on('data', () => {
      this.#lastDataMs = performance.now();
    });
    const timer = setInterval(() => {
      if (!this.#isWaiting || this.#isUnlimited || performance.now() - this.#lastDataMs < this.#limitMs) return;
      clearInterval(timer);
      stream.destroy(Object.assign(new Error('The database stopped responding.'), { code: 'ETIMEDOUT' }));
    }, this.#limitMs / CHECKS_PER_LIMIT);
    timer.unref();
    stream.once('close', () => clearInterval(timer));
  }
}

/** A connection that prepares parameterised statements under a name, and reports every text to the observer. */
export class NamedClient extends pg.Client {
  readonly #observe: StatementObserver | undefined;

  constructor(config: NamedClientConfig) {
    super(config);
    this.#observe = config.onStatement;
    const silence = new SilenceWatch(this, config.silenceLimitMs);
    // pg overloads query() ten times over; kysely calls it as (text, values) and with a config object only.
    const superQuery = super.query.bind(this) as (...args: unknown[]) => unknown;
    const send = (...args: unknown[]): unknown => {
      silence.start(args[0]);
      return superQuery(...args);
    };
    const query = (first: unknown, values?: unknown, callback?: unknown): unknown => {
      if (typeof first !== 'string') return send(first, values, callback);
      this.#observe?.(first);
      if (!Array.isArray(values) || values.length === 0) return send(first, values, callback);
      const name = config.names?.nameOf(first);
      return name === undefined ? send(first, values, callback) : send({ name, text: first, values }, callback);
    };
    this.query = query as typeof this.query;
  }
}

/** A statement with a fixed text and parameters `$n`. */
export const raw = <Row>(text: string, values: readonly unknown[]): CompiledQuery<Row> =>
  CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>;
