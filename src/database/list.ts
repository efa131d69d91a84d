import type { Selectable } from 'kysely';
import { invalid } from '../core/errors.ts';
import { DEFAULT_PAGE_SIZE, type Filter, type ListArgs, MAX_OFFSET, MAX_PAGE_SIZE } from '../core/list-args.ts';
import type { Db } from './database.ts';
import { type FilterColumns, filterConditions } from './list-filter.ts';
import {
  type ColumnType,
  decodeCursor,
  encodeCursor,
  keysetSql,
  type ListColumn,
  type OrderTerm,
  orderSql,
  Parameters,
} from './list-sql.ts';
import { type SearchTerm, searchSql, searchWords } from './search.ts';
import { raw } from './statements.ts';
import type { DB } from './tables.generated.ts';

/** Filters and orders of a list of one entity. Keys are the names in the GraphQL inputs. */
export interface ListDefinition {
  /** `from` clause, with the alias used by the columns. */
  readonly from: string;
  /** The column that every statement restricts to the tenant. */
  readonly tenantColumn: string;
  /** A condition on every row, for rows that no list shows. */
  readonly where?: string;
  readonly filters: FilterColumns;
  readonly sorts: Readonly<Record<string, ListColumn>>;
  /** The unique id: tie-breaker of every order. */
  readonly id: ListColumn;
  readonly defaultOrder: readonly OrderTerm[];
  /** The text that a search looks in: an SQL expression, folded by `search_fold`. */
  readonly search?: string;
  /** Set if that text is in another table: wraps the conditions on it into a semi-join. `$1` is the tenant. */
  readonly searchSemiJoin?: (predicate: string) => string;
}

export interface ListStatement {
  /** Everything from `from` to `limit`, to follow the select list. */
  readonly tail: string;
  readonly values: readonly unknown[];
  /** `select` expressions of the cursor's values, named k0, k1, … */
  readonly keys: readonly string[];
  /** The conditions on every row of the list, on all pages; their parameters are those of `count`. */
  readonly where: string;
  readonly count: { readonly text: string; readonly values: readonly unknown[] };
  /** Whether the tenant is the only restriction. */
  readonly isUnfiltered: boolean;
  readonly pageSize: number;
  readonly isReversed: boolean;
  readonly orderName: string;
  readonly hasPrecedingRows: boolean;
  /** `order by` by the page's keys, for a statement that joins to the page. */
  orderByKeys(alias: string): string;
}

/**
 * Turns a connection's arguments into one statement.
 * @param searchTerms default: the words of `args.search`
 * @param within conditions in addition to the caller's filter: those of the parent object whose rows are listed
 * @throws VALIDATION_ERROR naming the argument: a page size out of bounds, a foreign cursor, both directions at once
 */
export function listStatement(
  definition: ListDefinition,
  tenantId: number,
  args: ListArgs,
  searchTerms: readonly SearchTerm[] = searchWords(args.search),
  within: Filter = {},
): ListStatement {
  const { pageSize, isReversed, cursor, cursorName } = parsePage(args);
  const order = orderTerms(definition, args);
  const orderName = order.map(({ column, descending }) => `${descending ? '-' : ''}${column.sql}`).join(',');
  const filterParameters = new Parameters([tenantId]);
  const conditions = [`${definition.tenantColumn} = $1`, ...(definition.where ? [definition.where] : [])];
  conditions.push(...filterConditions(definition.filters, tenantId, within, filterParameters));
  conditions.push(...filterConditions(definition.filters, tenantId, args.filter, filterParameters));
  if (searchTerms.length > 0) {
    if (definition.search === undefined) throw new Error(`The list from ${definition.from} has no text to search in.`);
    const predicate = searchSql(filterParameters, definition.search, searchTerms);
    conditions.push(definition.searchSemiJoin?.(predicate) ?? predicate);
  }

  const parameters = new Parameters(filterParameters.values);
  const where = conditions.join(' and ');
  const pageConditions = [...conditions];
  if (cursor) {
    const values = decodeCursor(
      cursor,
      orderName,
      order.map(({ column }) => column),
    );
    if (!values) throw invalid({ [cursorName]: ['This cursor does not belong to this list in this order.'] });
    pageConditions.push(keysetSql(parameters, order, values, isReversed));
  }
  const isUnfiltered = conditions.length === 1;
  // Without a filter the limit is a literal: for a parameter, a generic plan assumes a tenth of all rows and looks so expensive that
  // PostgreSQL plans each page anew, which takes longer than reading it. Filtered pages are planned anew on purpose, because the best
  // plan depends on how many rows meet the filter.
  const limit = `limit ${isUnfiltered ? pageSize + 1 : parameters.add(pageSize + 1, 'int')}`;
  const offset = args.offset ? ` offset ${parameters.add(args.offset, 'int')}` : '';
  return {
    tail: `from ${definition.from} where ${pageConditions.join(' and ')} order by ${orderSql(order, isReversed)} ${limit}${offset}`,
    values: parameters.values,
    keys: order.map(({ column }, index) => `${column.sql} as k${index}`),
    where,
    count: { text: `select count(*) as total from ${definition.from} where ${where}`, values: filterParameters.values },
    isUnfiltered,
    pageSize,
    isReversed,
    orderName,
    hasPrecedingRows: Boolean(cursor) || Boolean(args.offset),
    orderByKeys: alias =>
      order
        .map(({ descending }, index) => `${alias}.k${index} ${descending === isReversed ? 'asc' : 'desc'}`)
        .join(', '),
  };
}

/**
 * A filter of a list as a condition for other statements.
 * @returns the condition with its parameters, of which `$1` is the tenant
 * @throws VALIDATION_ERROR as `listStatement`
 */
export function whereOf(
  definition: ListDefinition,
  tenantId: number,
  filter: Filter,
): { readonly text: string; readonly values: readonly unknown[] } {
  const { where, count } = listStatement(definition, tenantId, { filter });
  return { text: where, values: count.values };
}

/** @throws VALIDATION_ERROR naming the argument */
function parsePage(args: ListArgs): {
  pageSize: number;
  isReversed: boolean;
  cursor: string | undefined;
  cursorName: string;
} {
  const isReversed = args.last != null;
  if (isReversed && (args.first != null || args.after != null))
    throw invalid({ last: ['Use first and after, or last and before, not both.'] });
  if (!isReversed && args.before != null) throw invalid({ before: ['Can only be combined with last.'] });
  const pageSize = args.last ?? args.first ?? DEFAULT_PAGE_SIZE;
  const name = isReversed ? 'last' : 'first';
  if (pageSize < 1 || pageSize > MAX_PAGE_SIZE) throw invalid({ [name]: [`Must be from 1 to ${MAX_PAGE_SIZE}.`] });
  const cursorName = isReversed ? 'before' : 'after';
  const cursor = (isReversed ? args.before : args.after) ?? undefined;
  if (args.offset != null) {
    if (cursor !== undefined || isReversed)
      throw invalid({ offset: ['Can only be combined with first, not with a cursor or last.'] });
    if (args.offset < 0 || args.offset > MAX_OFFSET)
      throw invalid({ offset: [`Must be from 0 to ${MAX_OFFSET}; use cursors to go further.`] });
  }
  return { pageSize, isReversed, cursor, cursorName };
}

function orderTerms(definition: ListDefinition, { orderBy }: ListArgs): OrderTerm[] {
  const requested = new Map<ListColumn, OrderTerm>();
  for (const { field, direction } of orderBy ?? []) {
    const column = definition.sorts[field] ?? definition.id;
    // A repeated column has no effect, so a statement has at most as many terms as there are columns.
    if (!requested.has(column)) requested.set(column, { column, descending: direction === 'desc' });
  }
  const terms: OrderTerm[] = requested.size > 0 ? [...requested.values()] : [...definition.defaultOrder];
  const byId = terms.findIndex(term => term.column === definition.id);
  // Terms after the unique id have no effect. A missing id term takes the last term's direction, so that one index serves the
  // order.
  return byId >= 0
    ? terms.slice(0, byId + 1)
    : [...terms, { column: definition.id, descending: terms.at(-1)?.descending ?? false }];
}

type Keyed = Readonly<Record<string, unknown>>;

/** One page of rows, with the data of a connection. */
export class Page<Row extends object> {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  /** Counts the whole list; called only if the count is selected. */
  readonly total: () => Promise<number>;
  readonly #statement: ListStatement;

  /** @param fetched up to one row more than the page; the extra row means that there is a next page */
  constructor(statement: ListStatement, fetched: Row[], total: () => Promise<number>) {
    const more = fetched.length > statement.pageSize;
    const rows = more ? fetched.slice(0, statement.pageSize) : fetched;
    this.rows = statement.isReversed ? rows.reverse() : rows;
    this.hasNextPage = statement.isReversed ? statement.hasPrecedingRows : more;
    this.hasPreviousPage = statement.isReversed ? more : statement.hasPrecedingRows;
    this.total = total;
    this.#statement = statement;
  }

  cursor(row: Row): string {
    const keys = this.#statement.keys.map((_, index) => (row as Keyed)[`k${index}`]);
    return encodeCursor(this.#statement.orderName, keys);
  }
}

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
