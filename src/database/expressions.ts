import { type AliasedRawBuilder, type Expression, type RawBuilder, sql } from 'kysely';

/** Expressions of PostgreSQL that kysely's builder has no words for. */

/**
 * `any($1)`, for `.where('id', '=', anyOf(ids))`: one parameter for the whole list, so that the text of a statement, and with it
 * its prepared plan, is the same for every length. The parameter takes its type from the compared column.
 */
export const anyOf = <Value>(values: readonly Value[]): RawBuilder<Value> => sql<Value>`any(${values})`;

/** `any(array(select …))`: the rows are found and locked first, in the order of the query, and then looked up by key. */
export const anyIn = <Value>(query: Expression<Readonly<Record<string, Value>>>): RawBuilder<Value> =>
  sql<Value>`any(array(${query}))`;

/** The database's clock, which runs on within a transaction, unlike `now()`. */
export const clockTime = sql<string>`clock_timestamp()`;

/** The database's clock `ms` milliseconds from now; negative: ago. */
export const clockTimeIn = (ms: number): RawBuilder<string> =>
  sql<string>`clock_timestamp() + ${ms}::float8 * interval '1 ms'`;

/** The start of the transaction. */
export const transactionTime = sql<string>`now()`;

/**
 * For `.modifyEnd(…)` of a statement without a tenant filter: says why it has none. A test refuses statements on tenant tables
 * that neither restrict the tenant nor carry this comment.
 */
export const crossTenant = (reason: string): RawBuilder<unknown> => sql.raw(`/* cross-tenant: ${reason} */`);

export const bigints = (values: readonly number[]): RawBuilder<number> => sql<number>`${values}::bigint[]`;

export const texts = <Text extends string | null>(values: readonly Text[]): RawBuilder<Text> =>
  sql<Text>`${values}::text[]`;

export const timestamps = <Time extends string | null>(values: readonly Time[]): RawBuilder<Time> =>
  sql<Time>`${values}::timestamptz[]`;

type Rows<Columns> = { [Name in keyof Columns]: Columns[Name] extends RawBuilder<infer Value> ? Value : never };

/**
 * Rows of parameters, as many as the arrays have elements, whatever the text of the statement.
 * @example db.selectFrom(unnest('r', { id: bigints(ids), key: texts(keys) }))
 * // select … from unnest($1::bigint[], $2::text[]) as r (id, key)
 */
export const unnest = <Alias extends string, Columns extends Readonly<Record<string, RawBuilder<unknown>>>>(
  alias: Alias,
  columns: Columns,
): AliasedRawBuilder<Rows<Columns>, Alias> =>
  sql<Rows<Columns>>`unnest(${sql.join(Object.values(columns))})`.as<Alias>(
    sql`${sql.ref(alias)} (${sql.join(Object.keys(columns).map(name => sql.ref(name)))})`,
  );
