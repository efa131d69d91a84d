import { invalid } from '../core/errors.ts';
import { inputId, inputUuid } from '../core/global-ids.ts';
import { type Filter, MAX_CONDITIONS, MAX_FILTER_DEPTH } from '../core/list-args.ts';
import { filterSql, type ListColumn, type Operator, type Parameters } from './list-sql.ts';

/** A filterable column; `node` names the type of the ids in it, so that global ids are accepted. */
export interface FilterColumn extends ListColumn {
  readonly node?: string;
  /**
   * Translates the conditions of a caller into conditions on another column.
   * @param path of the field in the input, for errors
   */
  readonly rewrite?: (
    conditions: Filter,
    path: string,
  ) => { readonly column: FilterColumn; readonly conditions: Filter };
}

/** A filter on the row that a foreign key references, with the filter columns of that row's list. */
export interface NestedFilter {
  readonly columns: FilterColumns;
  /** Wraps the conditions on the other row into a semi-join. `$1` is the tenant. */
  readonly semiJoin: (predicate: string) => string;
}

export type FilterColumns = Readonly<Record<string, FilterColumn | NestedFilter>>;

/**
 * The predicates of a filter, all of which must hold.
 * @throws VALIDATION_ERROR for more than 20 conditions or three levels, and for values that do not fit their operator
 */
export function filterConditions(
  columns: FilterColumns,
  tenantId: number,
  filter: Filter | null | undefined,
  parameters: Parameters,
): string[] {
  const left = { conditions: MAX_CONDITIONS };
  return conditionsOf(columns, filter ?? {}, 'filter', 1);

  function conditionsOf(columns: FilterColumns, level: Filter, path: string, depth: number): string[] {
    if (depth > MAX_FILTER_DEPTH)
      throw invalid({ filter: [`May be nested at most ${MAX_FILTER_DEPTH} deep.`] }, 'TOO_MANY');
    const conditions: string[] = [];
    for (const [field, value] of Object.entries(level)) {
      if (value == null) continue;
      const at = `${path}.${field}`;
      const column = columns[field];
      if (column && 'semiJoin' in column) {
        const nested = conditionsOf(column.columns, value as Filter, at, depth + 1);
        if (nested.length > 0) conditions.push(column.semiJoin(all(nested)));
      } else if (column) conditions.push(...comparisons(column, value as Filter, at));
      else if (field === 'not')
        conditions.push(`not coalesce((${all(conditionsOf(columns, value as Filter, at, depth + 1))}), false)`);
      else if (field === 'and' || field === 'or') {
        const filters = (value as readonly Filter[]).map((item, index) =>
          conditionsOf(columns, item, `${at}.${index}`, depth + 1),
        );
        conditions.push(`(${field === 'and' ? all(filters.map(all)) : any(filters.map(all))})`);
      }
    }
    return conditions;
  }

  function comparisons(column: FilterColumn, operators: Filter, path: string): string[] {
    if (column.rewrite) {
      const { column: other, conditions } = column.rewrite(operators, path);
      return comparisons(other, conditions, path);
    }
    return Object.entries(operators).flatMap(([operator, value]) => {
      if (value == null) return [];
      left.conditions -= 1;
      if (left.conditions < 0)
        throw invalid({ filter: [`May have at most ${MAX_CONDITIONS} conditions.`] }, 'TOO_MANY');
      if (operator === 'between' && (value as unknown[]).length !== 2)
        throw invalid({ [`${path}.between`]: ['Must be two values: the lowest and the highest.'] });
      const parsed = column.node ? parseIds(tenantId, column, column.node, value, path) : value;
      return [filterSql(parameters, { column, operator: operator as Operator, value: parsed })];
    });
  }
}

/** The conjunction; true if there are no predicates. */
const all = (predicates: readonly string[]): string => (predicates.length > 0 ? predicates.join(' and ') : 'true');
/** The disjunction; false if there are no predicates. */
const any = (predicates: readonly string[]): string =>
  predicates.length > 0 ? predicates.map(predicate => `(${predicate})`).join(' or ') : 'false';

function parseIds(tenantId: number, { type }: FilterColumn, node: string, value: unknown, field: string): unknown {
  const parse = (text: string): number | string =>
    type === 'uuid' ? inputUuid(tenantId, node, text, field) : inputId(tenantId, node, text, field);
  if (Array.isArray(value)) return value.map(item => parse(String(item)));
  return typeof value === 'string' ? parse(value) : value;
}
