import { CompiledQuery, type Selectable } from 'kysely';
import type { ListArgs } from '../core/list-args.ts';
import type { Db } from './database.ts';
import { type ListDefinition, type ListStatement, listStatement, Page } from './list.ts';
import type { ColumnType, ListColumn } from './list-query.ts';
import type { DB } from './tables.generated.ts';

/** PostgreSQL types of a list column whose values the driver delivers as `Value`. */
type TypeOf<Value> = [NonNullable<Value>] extends [number]
  ? Extract<ColumnType, 'bigint' | 'integer' | 'smallint'>
  : [NonNullable<Value>] extends [boolean]
    ? 'boolean'
    : Extract<ColumnType, 'text' | 'timestamptz' | 'uuid'>;

/**
 * Returns a function that creates the list columns of a table under an alias; the type checker rejects unknown column names:
 * `listColumns('bots', 'b')('created_at', 'timestamptz')` is `{ sql: 'b.created_at', type: 'timestamptz' }`.
 */
export const listColumns =
  <Table extends keyof DB>(_table: Table, alias: string) =>
  <Name extends keyof Selectable<DB[Table]> & string>(
    name: Name,
    type: TypeOf<Selectable<DB[Table]>[Name]>,
  ): ListColumn => ({ sql: `${alias}.${name}`, type });

/**
 * Reads one page of a list whose rows are columns of its table.
 * @param columns with the alias of the definition's `from`: `BOT_COLUMNS.map(column => `b.${column}` as const)`
 * @throws VALIDATION_ERROR as `listStatement`
 */
export async function readPage<Row extends object>(
  db: Db,
  definition: ListDefinition,
  tenantId: number,
  args: ListArgs,
  columns: readonly `${string}.${keyof Row & string}`[],
): Promise<Page<Row>> {
  const statement = listStatement(definition, tenantId, args);
  const select = [...columns, ...statement.keys].join(', ');
  const { rows } = await db.executeQuery(raw<Row>(`select ${select} ${statement.tail}`, statement.values));
  return new Page(statement, rows, () => countList(db, statement));
}

/** Counts the rows of a list across all pages. */
export async function countList(db: Db, { count }: ListStatement): Promise<number> {
  const { rows } = await db.executeQuery(raw<{ total: number }>(count.text, count.values));
  return rows[0]?.total ?? 0;
}

/** A statement with a fixed text and parameters `$n`. */
export const raw = <Row>(text: string, values: readonly unknown[]): CompiledQuery<Row> =>
  CompiledQuery.raw(text, [...values]) as CompiledQuery<Row>;
