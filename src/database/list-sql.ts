import { isUuid } from '../core/ids.ts';
import { parseDateTime } from '../platform/date-time.ts';
import { isStorable } from '../platform/text.ts';
import { PLANNED_AT_EACH_CALL } from './statements.ts';

/**
 * SQL of a list: filters, search, order, keyset pages. Column names come from a closed table in the code, values only as
 * parameters. The text depends only on the shape of the request, and without a filter on the page size, so that it can be prepared.
 */

export type ColumnType = 'text' | 'bigint' | 'integer' | 'smallint' | 'timestamptz' | 'uuid' | 'boolean';
export type Operator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'in' | 'notIn' | 'between' | 'isNull';

export interface ListColumn {
  /** An SQL expression over the list's table. */
  readonly sql: string;
  readonly type: ColumnType;
  /** Set if the column is in another table: wraps the comparison of `sql` into a semi-join. */
  readonly exists?: (predicate: string) => string;
  /** Set for ids that a merge may have replaced: maps an id expression to the current id. `$1` is the tenant. */
  readonly currentId?: (id: string) => string;
  /** Set for the creation time of rows with UUIDv7 ids: the id column, whose index serves ranges of times. */
  readonly timeOrderedId?: string;
  /** Set if the column is part of a search text: the column with that text, whose trigrams are indexed. */
  readonly searchText?: string;
  /** Set for times indexed only by their ten-minute slot: the column with the start of the slot. */
  readonly slot?: string;
  /** Set for a column of an order that may be null: nulls are last, in descending order first, as PostgreSQL sorts them. */
  readonly isNullable?: boolean;
}

export interface FilterTerm {
  readonly column: ListColumn;
  readonly operator: Operator;
  /** One value; an array for in, notIn and between (two); a boolean for isNull. */
  readonly value: unknown;
}

export interface OrderTerm {
  readonly column: ListColumn;
  readonly descending: boolean;
}

/** Parameters of a statement, in the order of their `$n`. */
export class Parameters {
  readonly values: unknown[];

  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  /** @returns the placeholder with a cast, so that PostgreSQL can use an index of exactly this type */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

const COMPARISON = { eq: '=', ne: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function compare(parameters: Parameters, column: ListColumn, operator: Operator, value: unknown): string {
  const { sql, type, currentId } = column;
  const one = (placeholder: string) => (currentId ? `(select ${currentId(placeholder)})` : placeholder);
  const list = (placeholder: string) =>
    currentId ? `array(select ${currentId('r.id')} from unnest(${placeholder}) as r (id))` : placeholder;
  switch (operator) {
    case 'eq':
    case 'ne':
      return inTimeRange(column, operator, one(parameters.add(value, type)));
    // A former id is compared as it is, not as its survivor's: a client that pages by id would otherwise go back to the survivor.
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return inTimeRange(column, operator, parameters.add(value, type));
    case 'like':
      return like(parameters, column, String(value));
    case 'in':
      return `${sql} = any(${list(parameters.add(value, `${type}[]`))})`;
    case 'notIn':
      return `${sql} <> all(${list(parameters.add(value, `${type}[]`))})`;
    case 'between': {
      const [low, high] = value as readonly unknown[];
      return `${inTimeRange(column, 'gte', parameters.add(low, type))} and ${inTimeRange(column, 'lte', parameters.add(high, type))}`;
    }
    case 'isNull':
      return value ? `${sql} is null` : `${sql} is not null`;
  }
}

/**
 * Returns the comparison and, for times that only another column indexes, bounds on that column which it implies: on the time-ordered id,
 * created within a second of the creation time, or on the start of the ten-minute slot.
 */
function inTimeRange(
  { sql, timeOrderedId: id, slot }: ListColumn,
  operator: keyof typeof COMPARISON,
  value: string,
): string {
  const comparison = `${sql} ${COMPARISON[operator]} ${value}`;
  if ((id ?? slot) === undefined || operator === 'ne') return comparison;
  const from = id ? `${id} >= uuid_at(${value} - interval '1 second')` : `${slot} > ${value} - interval '10 minutes'`;
  const to = id ? `${id} < uuid_at(${value} + interval '1 second')` : `${slot} <= ${value}`;
  const bounds = { eq: [from, to], gt: [from], gte: [from], lt: [to], lte: [to] }[operator];
  return `(${[comparison, ...bounds].join(' and ')})`;
}

/** @returns the comparison and, if possible, a condition on the search text that it implies, whose trigrams are indexed */
function like(parameters: Parameters, { sql, searchText }: ListColumn, pattern: string): string {
  const comparison = `${sql} ilike ${parameters.add(likePattern(pattern), 'text')}`;
  const [longest = ''] = pattern.split(/[%_]/).sort((one, other) => other.length - one.length);
  // Only for ASCII, where folding changes nothing but case and does not depend on neighbouring characters.
  if (searchText === undefined || !/^[ -~]{3,}$/.test(longest)) return comparison;
  return `(${comparison} and ${searchText} like search_pattern(${parameters.add(longest, 'text')}) ${PLANNED_AT_EACH_CALL})`;
}

/** Converts a caller's pattern (`%` any text, `_` any character, nothing else is special); plain text matches anywhere. */
const likePattern = (text: string): string =>
  /[%_]/.test(text) ? text.replaceAll('\\', '\\\\') : `%${escapeLike(text)}%`;

/** Escapes text for LIKE. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

const NEGATIVE: Partial<Record<Operator, Operator>> = { ne: 'eq', notIn: 'in' };

/** The predicate of one filter. Over a semi-join, negation means "no such row", not "a row that differs". */
export function filterSql(parameters: Parameters, { column, operator, value }: FilterTerm): string {
  if (!column.exists) {
    const predicate = compare(parameters, column, operator, value);
    // "Not equal" includes rows without a value, as users expect; plain SQL excludes them.
    return operator === 'ne' || operator === 'notIn' ? `(${predicate} or ${column.sql} is null)` : predicate;
  }
  if (operator === 'isNull') return `${value ? 'not ' : ''}${column.exists('true')}`;
  const positive = NEGATIVE[operator];
  const predicate = compare(parameters, column, positive ?? operator, value);
  return `${positive ? 'not ' : ''}${column.exists(predicate)}`;
}

/** `order by` of the terms, reversed for a page read from its end. */
export function orderSql(terms: readonly OrderTerm[], isReversed: boolean): string {
  return terms
    .map(({ column, descending }) => `${column.sql} ${descending === isReversed ? 'asc' : 'desc'}`)
    .join(', ');
}

/**
 * The keyset predicate: "sorts after these values". Terms of one direction are compared as a row, which an index supports
 * directly; mixed directions and columns that may be null need the long form, with the first column bounded so that an index still
 * applies.
 */
export function keysetSql(
  parameters: Parameters,
  terms: readonly OrderTerm[],
  values: readonly unknown[],
  isReversed: boolean,
): string {
  const places = terms.map(
    ({ column, descending }, index): Place => ({
      column,
      operator: descending === isReversed ? '>' : '<',
      placeholder: values[index] === null ? undefined : parameters.add(values[index], column.type),
    }),
  );
  const [first, ...others] = places;
  if (!first) return 'false';
  if (!places.some(({ column }) => column.isNullable) && others.every(({ operator }) => operator === first.operator))
    return `(${places.map(({ column }) => column.sql).join(', ')}) ${first.operator} (${places.map(({ placeholder }) => placeholder).join(', ')})`;
  const after = (index: number): string => {
    const place = places[index];
    if (!place) return 'false';
    return index === places.length - 1
      ? strictlyAfter(place)
      : `(${strictlyAfter(place)} or (${sameAs(place)} and ${after(index + 1)}))`;
  };
  return `(${atOrAfter(first)} and ${after(0)})`;
}

/** Where the rows of a page begin in one column of the order. */
interface Place {
  readonly column: ListColumn;
  /** Nulls are greater than all values. */
  readonly operator: '<' | '>';
  /** Undefined: null. */
  readonly placeholder: string | undefined;
}

const orNull = ({ sql, isNullable }: ListColumn, comparison: string): string =>
  isNullable ? `(${comparison} or ${sql} is null)` : comparison;

function strictlyAfter({ column, operator, placeholder }: Place): string {
  if (placeholder === undefined) return operator === '<' ? `${column.sql} is not null` : 'false';
  const comparison = `${column.sql} ${operator} ${placeholder}`;
  return operator === '>' ? orNull(column, comparison) : comparison;
}

function atOrAfter({ column, operator, placeholder }: Place): string {
  if (placeholder === undefined) return operator === '<' ? 'true' : `${column.sql} is null`;
  const comparison = `${column.sql} ${operator}= ${placeholder}`;
  return operator === '>' ? orNull(column, comparison) : comparison;
}

const sameAs = ({ column, placeholder }: Place): string =>
  placeholder === undefined ? `${column.sql} is null` : `${column.sql} = ${placeholder}`;

/**
 * A cursor: the row's values in the order of the list, and that order. Opaque to clients and valid only for the same list in the
 * same order.
 */
export const encodeCursor = (order: string, values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([order, ...values])).toString('base64url');

/** @returns undefined if the text is not a cursor of a list in this order with values valid for its columns */
export function decodeCursor(
  cursor: string,
  order: string,
  columns: readonly Pick<ListColumn, 'type' | 'isNullable'>[],
): unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parsed) || parsed[0] !== order || parsed.length !== columns.length + 1) return undefined;
    const values = parsed.slice(1);
    const fits = columns.every(
      ({ type, isNullable }, index) =>
        isValueOf(type, values[index]) || (isNullable === true && values[index] === null),
    );
    return fits ? values : undefined;
  } catch {
    return undefined;
  }
}

const isIntegerOfBits = (value: unknown, bits: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= -(2 ** (bits - 1)) && (value as number) < 2 ** (bits - 1);

/** Whether a row can have this value: cursors are untrusted input and must not cause database errors. */
function isValueOf(type: ColumnType, value: unknown): boolean {
  switch (type) {
    case 'bigint':
      return Number.isSafeInteger(value);
    case 'integer':
      return isIntegerOfBits(value, 32);
    case 'smallint':
      return isIntegerOfBits(value, 16);
    case 'text':
      return typeof value === 'string' && isStorable(value);
    case 'uuid':
      return typeof value === 'string' && isUuid(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'timestamptz':
      return (
        typeof value === 'string' &&
        /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value) &&
        parseDateTime(value) !== undefined
      );
  }
}
