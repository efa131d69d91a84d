import { isUuid } from './ids.ts';
import { isStorable } from './text.ts';

/**
 * The SQL of a list: filters, search, order, keyset pages. Column names come from a closed table that the caller writes,
 * values only ever as parameters. The text depends on the shape of the request alone, so that it can be prepared.
 */

export type ColumnType = 'text' | 'bigint' | 'smallint' | 'timestamptz' | 'uuid' | 'boolean';
export type Operator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'like' | 'in' | 'notIn' | 'between' | 'isNull';

export interface ListColumn {
  /** An SQL expression over the list's table. */
  readonly sql: string;
  readonly type: ColumnType;
  /** For what lies in another table: wraps the comparison of `sql` into a semi-join. */
  readonly exists?: (predicate: string) => string;
}

export interface FilterTerm {
  readonly column: ListColumn;
  readonly operator: Operator;
  /** One value; a list for in, notIn and between (two); a boolean for isNull. */
  readonly value: unknown;
}

export interface OrderTerm {
  readonly column: ListColumn;
  readonly descending: boolean;
}

/** Values of a statement in the order of their `$n`. */
export class Parameters {
  readonly values: unknown[];

  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  /** @returns the placeholder with a cast, so that the value meets an index of exactly this type */
  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}

const COMPARISON = { eq: '=', ne: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

function compare(parameters: Parameters, sql: string, type: ColumnType, operator: Operator, value: unknown): string {
  switch (operator) {
    case 'eq':
    case 'ne':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return `${sql} ${COMPARISON[operator]} ${parameters.add(value, type)}`;
    case 'like':
      return `${sql} ilike ${parameters.add(likePattern(String(value)), 'text')}`;
    case 'in':
      return `${sql} = any(${parameters.add(value, `${type}[]`)})`;
    case 'notIn':
      return `${sql} <> all(${parameters.add(value, `${type}[]`)})`;
    case 'between': {
      const [low, high] = value as readonly unknown[];
      return `${sql} between ${parameters.add(low, type)} and ${parameters.add(high, type)}`;
    }
    case 'isNull':
      return value ? `${sql} is null` : `${sql} is not null`;
  }
}

/** A pattern of the caller's (`%` any text, `_` any character, nothing else is special); plain text is looked for anywhere. */
const likePattern = (text: string): string =>
  /[%_]/.test(text) ? text.replaceAll('\\', '\\\\') : `%${escapeLike(text)}%`;

/** Text in which LIKE finds no pattern. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

const NEGATIVE: Partial<Record<Operator, Operator>> = { ne: 'eq', notIn: 'in' };

/** The predicate of one filter. Over a semi-join a negation means "no such row", not "a row that differs". */
export function filterSql(parameters: Parameters, { column, operator, value }: FilterTerm): string {
  if (!column.exists) {
    const predicate = compare(parameters, column.sql, column.type, operator, value);
    // "not equal" includes rows without a value: that is what a person who filters expects, and not what SQL does.
    return operator === 'ne' || operator === 'notIn' ? `(${predicate} or ${column.sql} is null)` : predicate;
  }
  if (operator === 'isNull') return `${value ? 'not ' : ''}${column.exists('true')}`;
  const positive = NEGATIVE[operator];
  const predicate = compare(parameters, column.sql, column.type, positive ?? operator, value);
  return `${positive ? 'not ' : ''}${column.exists(predicate)}`;
}

/** `order by` of the terms, reversed for a page that is read from its end. */
export function orderSql(terms: readonly OrderTerm[], reversed: boolean): string {
  return terms.map(({ column, descending }) => `${column.sql} ${descending === reversed ? 'asc' : 'desc'}`).join(', ');
}

/**
 * "Comes after these values" in the given order. Terms of one direction compare as a row, which an index serves at once;
 * mixed directions need the long form, with the first column bounded so that an index still serves that.
 */
export function keysetSql(
  parameters: Parameters,
  terms: readonly OrderTerm[],
  values: readonly unknown[],
  reversed: boolean,
): string {
  const placeholders = terms.map(({ column }, index) => parameters.add(values[index], column.type));
  const operators = terms.map(({ descending }) => (descending === reversed ? '>' : '<'));
  if (new Set(operators).size === 1) {
    return `(${terms.map(({ column }) => column.sql).join(', ')}) ${operators[0]} (${placeholders.join(', ')})`;
  }
  const after = (index: number): string => {
    const sql = terms[index]?.column.sql;
    const strictly = `${sql} ${operators[index]} ${placeholders[index]}`;
    return index === terms.length - 1
      ? strictly
      : `(${strictly} or (${sql} = ${placeholders[index]} and ${after(index + 1)}))`;
  };
  return `(${terms[0]?.column.sql} ${operators[0]}= ${placeholders[0]} and ${after(0)})`;
}

/**
 * A cursor: the row's values in the list's order, and which order that was.
 * Opaque to the client; only its own list in its own order takes it back.
 */
export const encodeCursor = (order: string, values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([order, ...values])).toString('base64url');

/** @returns undefined when the text is no cursor of a list in this order, with values that its columns can have */
export function decodeCursor(cursor: string, order: string, types: readonly ColumnType[]): unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parsed) || parsed[0] !== order || parsed.length !== types.length + 1) return undefined;
    const values = parsed.slice(1);
    return types.every((type, index) => isValueOf(type, values[index])) ? values : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a row can have given this value: anybody can write a cursor, and the database must not stumble over it. */
function isValueOf(type: ColumnType, value: unknown): boolean {
  switch (type) {
    case 'bigint':
      return Number.isSafeInteger(value);
    case 'smallint':
      return Number.isSafeInteger(value) && Math.abs(value as number) < 2 ** 15;
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
        Number.isFinite(Date.parse(value)) &&
        !value.startsWith('0000')
      );
  }
}
