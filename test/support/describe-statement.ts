import {
  type CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import type { Db, Schema } from '../../src/database/database.ts';

/** PostgreSQL types as which the driver delivers a value of a TypeScript type (`typeParsers` of the database). */
type TypesOf<Value> = [NonNullable<Value>] extends [boolean]
  ? 'boolean'
  : [NonNullable<Value>] extends [number]
    ? 'bigint' | 'integer' | 'smallint' | 'real' | 'double precision'
    : [NonNullable<Value>] extends [string]
      ? 'text' | 'uuid' | 'timestamp with time zone' | 'date' | 'numeric' | 'interval' | 'character varying' | 'xid8'
      : [NonNullable<Value>] extends [Buffer]
        ? 'bytea'
        : 'json' | 'jsonb' | `${string}[]`;

/** The columns of a row type, each with a PostgreSQL type that fits it: `expect(columns).toEqual({…} satisfies ColumnsOf<Row>)`. */
export type ColumnsOf<Row> = { readonly [Column in keyof Row]-?: TypesOf<Row[Column]> };

export interface DescribedStatement {
  readonly text: string;
  /** Column names and PostgreSQL types of the rows; undefined: the statement returns none. */
  readonly columns: Readonly<Record<string, string>> | undefined;
}

/**
 * Has PostgreSQL parse and describe the statements that `work` sends, without running them.
 * @param answers rows with which the statements are answered in turn; default: none
 */
export async function describeStatements(
  url: string,
  work: (db: Db) => Promise<unknown>,
  answers: readonly (readonly unknown[])[] = [],
): Promise<DescribedStatement[]> {
  const sent: CompiledQuery[] = [];
  await work(
    recording(query => {
      sent.push(query);
      return answers[sent.length - 1] ?? [];
    }),
  );
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const described: DescribedStatement[] = [];
    for (const { sql: text } of sent) described.push({ text, columns: await columnsOf(client, text) });
    return described;
  } finally {
    await client.end();
  }
}

/** The columns of the only statement that `work` sends. */
export async function describeColumns(
  url: string,
  work: (db: Db) => Promise<unknown>,
): Promise<DescribedStatement['columns']> {
  const described = await describeStatements(url, work);
  if (described.length !== 1) throw new Error(`One statement was expected, ${described.length} were sent.`);
  return described[0]?.columns;
}

/** A database that runs nothing. */
function recording(answer: (query: CompiledQuery) => readonly unknown[]): Db {
  const connection = {
    executeQuery: async <Row>(query: CompiledQuery): Promise<QueryResult<Row>> => ({
      rows: [...answer(query)] as Row[],
    }),
    // biome-ignore lint/correctness/useYield: the interface asks for it, and nothing streams here
    async *streamQuery(): AsyncGenerator<never> {
      throw new Error('Streams are not described.');
    },
  };
  const nothing = async (): Promise<void> => undefined;
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: db => new PostgresIntrospector(db),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        releaseConnection: nothing,
        destroy: nothing,
      }),
    },
  });
}

async function columnsOf(client: pg.Client, text: string): Promise<DescribedStatement['columns']> {
  const fields = await new Promise<readonly pg.FieldDef[] | undefined>((resolve, reject) => {
    client.query(new Describe(text, resolve, reject));
  });
  if (!fields) return undefined;
  const { rows } = await client.query<{ oid: number; name: string }>(
    'select oid::int, format_type(oid, null) as name from unnest($1::oid[]) as oid',
    [fields.map(field => field.dataTypeID)],
  );
  return Object.fromEntries(fields.map((field, index) => [field.name, rows[index]?.name ?? '']));
}

/** Parse and describe in the extended protocol, which the driver does not offer without executing. */
class Describe implements pg.Submittable {
  readonly #text: string;
  readonly #resolve: (fields: readonly pg.FieldDef[] | undefined) => void;
  readonly #reject: (error: Error) => void;
  #fields: readonly pg.FieldDef[] | undefined;

  constructor(
    text: string,
    resolve: (fields: readonly pg.FieldDef[] | undefined) => void,
    reject: (error: Error) => void,
  ) {
    this.#text = text;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: pg.Connection): void {
    const { parse, describe, sync } = connection as unknown as {
      parse(query: { name: string; text: string }): void;
      describe(message: { type: 'S'; name: string }): void;
      sync(): void;
    };
    parse.call(connection, { name: '', text: this.#text });
    describe.call(connection, { type: 'S', name: '' });
    sync.call(connection);
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    this.#fields = fields;
  }

  handleError(error: Error, connection: pg.Connection): void {
    this.#reject(new Error(`${error.message}\n${this.#text}`, { cause: error }));
    (connection as unknown as { sync(): void }).sync();
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#fields);
  }
}
