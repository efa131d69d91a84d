import { invalid } from '../core/errors.ts';
import { inputId } from '../core/global-ids.ts';
import { DEFAULT_PAGE_SIZE, type ListArgs, MAX_OFFSET, MAX_PAGE_SIZE } from '../core/list-args.ts';
import {
  decodeCursor,
  encodeCursor,
  type FilterTerm,
  filterSql,
  keysetSql,
  type ListColumn,
  type Operator,
  type OrderTerm,
  orderSql,
  Parameters,
} from './list-query.ts';
import { type SearchTerm, searchSql, searchWords } from './search.ts';

/** A filterable column; `node` names the type of the ids in it, so that global ids are accepted. */
export interface FilterColumn extends ListColumn {
  readonly node?: string;
}

/** Filters and orders of a list of one entity. Keys are the names in the GraphQL inputs. */
export interface ListDefinition {
  /** `from` clause, with the alias used by the columns. */
  readonly from: string;
  /** The column that every statement restricts to the tenant. */
  readonly tenantColumn: string;
  readonly filters: Readonly<Record<string, FilterColumn>>;
  readonly sorts: Readonly<Record<string, ListColumn>>;
  /** The unique id: tie-breaker of every order. */
  readonly id: ListColumn;
  readonly defaultOrder: readonly OrderTerm[];
  /** The text that a search looks in: an SQL expression, folded by `search_fold`. */
  readonly search?: string;
}

export interface ListStatement {
  /** Everything from `from` to `limit`, to follow the select list. */
  readonly tail: string;
  readonly values: readonly unknown[];
  /** `select` expressions of the cursor's values, named k0, k1, … */
  readonly keys: readonly string[];
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
 * @param searched the terms of the search, if they are not its words
 * @throws VALIDATION_ERROR naming the argument: a page size out of bounds, a foreign cursor, both directions at once
 */
export function listStatement(
  definition: ListDefinition,
  tenantId: number,
  args: ListArgs,
  searched: readonly SearchTerm[] = searchWords(args.search),
): ListStatement {
  const { pageSize, isReversed, cursor, cursorName } = page(args);
  const order = orderTerms(definition, args);
  const orderName = order.map(({ column, descending }) => `${descending ? '-' : ''}${column.sql}`).join(',');
  const where = new Parameters([tenantId]);
  const conditions = [`${definition.tenantColumn} = $1`];
  for (const term of filterTerms(definition, args.filter)) conditions.push(filterSql(where, term));
  if (definition.search !== undefined && searched.length > 0)
    conditions.push(searchSql(where, definition.search, searched));

  const parameters = new Parameters(where.values);
  const rows = [...conditions];
  if (cursor) {
    const values = decodeCursor(
      cursor,
      orderName,
      order.map(({ column }) => column.type),
    );
    if (!values) throw invalid({ [cursorName]: ['This cursor does not belong to this list in this order.'] });
    rows.push(keysetSql(parameters, order, values, isReversed));
  }
  const limit = `limit ${parameters.add(pageSize + 1, 'int')}`;
  const offset = args.offset ? ` offset ${parameters.add(args.offset, 'int')}` : '';
  return {
    tail: `from ${definition.from} where ${rows.join(' and ')} order by ${orderSql(order, isReversed)} ${limit}${offset}`,
    values: parameters.values,
    keys: order.map(({ column }, index) => `${column.sql} as k${index}`),
    count: {
      text: `select count(*) as total from ${definition.from} where ${conditions.join(' and ')}`,
      values: where.values,
    },
    isUnfiltered: conditions.length === 1,
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

function page(args: ListArgs): {
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

function* filterTerms(definition: ListDefinition, filter: ListArgs['filter']): Generator<FilterTerm> {
  for (const [field, operators] of Object.entries(filter ?? {})) {
    const column = definition.filters[field];
    if (!column || operators == null) continue;
    for (const [operator, value] of Object.entries(operators)) {
      if (value == null) continue;
      if (operator === 'between' && (value as unknown[]).length !== 2) {
        throw invalid({ [`filter.${field}.between`]: ['Must be two values: the lowest and the highest.'] });
      }
      yield {
        column,
        operator: operator as Operator,
        value: column.node ? ids(column.node, value, `filter.${field}`) : value,
      };
    }
  }
}

function ids(node: string, value: unknown, field: string): unknown {
  if (Array.isArray(value)) return value.map(item => inputId(node, String(item), field));
  return typeof value === 'string' ? inputId(node, value, field) : value;
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
