import { type AliasedRawBuilder, type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Schema } from './database.ts';

/** PostgreSQL expressions that kysely's builder lacks. */

/**
 * `any($1)`, for `.where('id', '=', anyOf(ids))`: one parameter for the whole list, so that the text of a statement, and with it
 * its prepared plan, is the same for every length. The parameter takes its type from the compared column.
 */
export const anyOf = <Value>(values: readonly Value[]): RawBuilder<Value> => sql<Value>`any(${values})`;

/**
 * The same for bigints, as a list that the planner does not see: without statistics, a list of a thousand that it sees makes it read all
 * rows of the tenant. This one is always looked up by key.
 */
export const anyByKey = (values: readonly number[]): RawBuilder<number> =>
  sql<number>`any(array(select unnest(${values}::bigint[])))`;

/** The same for uuids; not for keys of partitions, because it reads all of them. */
export const anyByUuid = (values: readonly string[]): RawBuilder<string> =>
  sql<string>`any(array(select unnest(${values}::uuid[])))`;

/** `any(array(select …))`: the subquery runs first and locks its rows in its own order; the rows are then updated by key. */
export const anyIn = <Value>(query: Expression<Readonly<Record<string, Value>>>): RawBuilder<Value> =>
  sql<Value>`any(array(${query}))`;

/*
 * The clock is truncated to the milliseconds of the columns. They round, as often up as down: a row that is due now would be due up to
 * half a millisecond later, and a look-up right after the write would miss it.
 */

/** The database's clock, which advances within a transaction, unlike `now()`. */
export const clockTime = sql<string>`date_trunc('milliseconds', clock_timestamp())`;

/** The start of the statement: one time for all of its rows, in whatever order it visits them. */
export const statementTime = sql<string>`date_trunc('milliseconds', statement_timestamp())`;

/** The database's clock plus `ms` milliseconds, which may be negative. */
export const clockTimeIn = (ms: number): RawBuilder<string> =>
  sql<string>`${clockTime} + ${ms}::float8 * interval '1 ms'`;

/** The start of the transaction. */
export const transactionTime = sql<string>`now()`;

/**
 * For `.modifyEnd(…)`: explains why a statement has no tenant filter. A test rejects statements on tenant tables
 * that neither restrict the tenant nor have this comment.
 */
export const crossTenant = (reason: string): RawBuilder<unknown> => sql.raw(`/* cross-tenant: ${reason} */`);

/** Whether any tenant has a row that a query selects. */
export async function anyTenantHas<Tables extends keyof Schema>(
  query: SelectQueryBuilder<Schema, Tables, { id: number }>,
): Promise<boolean> {
  const row = await query.limit(sql.lit(1)).modifyEnd(crossTenant('whether any tenant has one')).executeTakeFirst();
  return row !== undefined;
}

export const bigints = (values: readonly number[]): RawBuilder<number> => sql<number>`${values}::bigint[]`;

export const texts = <Text extends string | null>(values: readonly Text[]): RawBuilder<Text> =>
  sql<Text>`${values}::text[]`;

export const timestamps = <Time extends string | null>(values: readonly Time[]): RawBuilder<Time> =>
  sql<Time>`${values}::timestamptz[]`;

type Rows<Columns> = { [Name in keyof Columns]: Columns[Name] extends RawBuilder<infer Value> ? Value : never };

/**
 * Turns arrays into rows; the text of the statement does not depend on their length.
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

/** An instant as text in the format of event payloads: `2026-11-21T07:58:39.120Z`. PostgreSQL's own JSON has another one. */
export const isoTime = (instant: RawBuilder<unknown>): RawBuilder<string | null> =>
  sql`to_char((${instant}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Whether a column holds an instant, by the ending of its name. */
export const isTimeColumn = (column: string): boolean => /_(at|since|until)$/.test(column);

/** A column as event payloads show it: times by `isoTime`. */
export const eventValue = (alias: string, column: string): RawBuilder<unknown> => {
  const value = sql.raw(`${alias}.${column}`);
  return isTimeColumn(column) ? isoTime(value) : value;
};
