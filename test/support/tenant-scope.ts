import type { Alias, Node, SelectStmt } from 'libpg-query';

/** An output column of a query, and whether all its values come from parameters (directly, or by equality with another column). */
export interface Column {
  readonly name: string;
  readonly bound: boolean;
}

/** A table, subquery or function in a `from` clause, and which of its columns are bound to a parameter. */
export interface Relation {
  readonly name: string;
  /** Set for tables only. */
  readonly table?: string;
  readonly columns: Map<string, boolean>;
  /** Whether columns that have no name in the statement are bound: those of a function over parameters. */
  unnamed: boolean;
}

/** What the names of a query can mean. */
export interface Scope {
  readonly relations: Relation[];
  readonly parent: Scope | undefined;
  /** Columns of the common table expressions in sight, by name. */
  readonly ctes: ReadonlyMap<string, readonly Column[]>;
}

export type SelectColumns = (select: SelectStmt, parent: Scope) => readonly Column[];

/** Free: may have any value. Constant: the same in each row, but from no parameter. */
type Origin = 'bound' | 'constant' | 'free';

const combined = (origins: readonly Origin[]): Origin =>
  origins.includes('free') ? 'free' : origins.includes('bound') ? 'bound' : 'constant';

export const nameOf = (node: Node | undefined): string => (node && 'String' in node ? (node.String.sval ?? '') : '');

/** Names that `as v (a, b)` gives to the columns. */
export const renamed = (columns: readonly Column[], alias: Alias | undefined): readonly Column[] =>
  columns.map((column, index) => ({ ...column, name: nameOf(alias?.colnames?.[index]) || column.name }));

/** A column of a relation. */
interface Place {
  readonly relation: Relation;
  readonly column: string;
}

/** Finds the columns that an expression is a plain reference to: several after `using`, none for other expressions. */
function placesOf(node: Node | undefined, scope: Scope): readonly Place[] {
  if (node && 'TypeCast' in node) return placesOf(node.TypeCast.arg, scope);
  const fields = node && 'ColumnRef' in node ? (node.ColumnRef.fields ?? []).map(nameOf) : [];
  const [qualifier, column] = fields.length > 1 ? fields.slice(-2) : [undefined, fields[0]];
  if (!column) return [];
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    const found =
      qualifier === undefined
        ? at.relations.filter(({ columns }) => columns.has(column))
        : at.relations.filter(({ name }) => name === qualifier);
    if (found.length > 0) return found.map(relation => ({ relation, column }));
  }
  return [];
}

const isBoundPlace = ({ relation, column }: Place): boolean => relation.columns.get(column) ?? relation.unnamed;

/** Whether an expression takes its value from parameters. */
export const isBound = (node: Node | undefined, scope: Scope, columnsOf: SelectColumns): boolean =>
  originOf(node, scope, columnsOf) === 'bound';

function originOf(node: Node | undefined, scope: Scope, columnsOf: SelectColumns): Origin {
  const all = (nodes: readonly (Node | undefined)[] | undefined): Origin =>
    combined((nodes ?? []).map(item => originOf(item, scope, columnsOf)));
  if (!node) return 'constant';
  if ('ParamRef' in node) return 'bound';
  if ('A_Const' in node) return 'constant';
  if ('ColumnRef' in node) return placesOf(node, scope).some(isBoundPlace) ? 'bound' : 'free';
  if ('TypeCast' in node) return all([node.TypeCast.arg]);
  if ('CollateClause' in node) return all([node.CollateClause.arg]);
  if ('A_Expr' in node) return all([node.A_Expr.lexpr, node.A_Expr.rexpr]);
  if ('A_Indirection' in node) return all([node.A_Indirection.arg]);
  if ('A_ArrayExpr' in node) return all(node.A_ArrayExpr.elements);
  if ('List' in node) return all(node.List.items);
  if ('FuncCall' in node) return all(node.FuncCall.args);
  if ('CoalesceExpr' in node) return all(node.CoalesceExpr.args);
  if ('CaseExpr' in node) {
    const results = (node.CaseExpr.args ?? []).map(when => ('CaseWhen' in when ? when.CaseWhen.result : undefined));
    return all([...results, node.CaseExpr.defresult]);
  }
  if ('SubLink' in node) {
    const { subLinkType, subselect } = node.SubLink;
    const isValue = subLinkType === 'EXPR_SUBLINK' || subLinkType === 'ARRAY_SUBLINK';
    if (!isValue || !subselect || !('SelectStmt' in subselect)) return 'free';
    return columnsOf(subselect.SelectStmt, scope)[0]?.bound ? 'bound' : 'free';
  }
  return 'free';
}

/** A condition that every row of the result satisfies. */
export interface Condition {
  readonly expression: Node;
  /** The relations whose rows it restricts: `on` of a left join restricts the right side alone. */
  readonly restricts: ReadonlySet<Relation>;
}

const keyOf = (scope: Scope, { relation, column }: Place): string => `${scope.relations.indexOf(relation)} ${column}`;

/** Binds the columns that a condition makes equal to something bound. @returns whether any was new */
export function bind({ expression, restricts }: Condition, scope: Scope, columnsOf: SelectColumns): boolean {
  let isNew = false;
  for (const key of boundBy(expression, scope, columnsOf)) {
    const [index = '', column = ''] = key.split(' ');
    const relation = scope.relations[Number(index)];
    if (!relation || !restricts.has(relation) || relation.columns.get(column)) continue;
    relation.columns.set(column, true);
    isNew = true;
  }
  return isNew;
}

/** The columns of the scope's own relations that a condition binds: of `or`, those that each branch binds. */
function boundBy(node: Node | undefined, scope: Scope, columnsOf: SelectColumns): ReadonlySet<string> {
  if (!node) return new Set();
  if ('BoolExpr' in node) {
    const [first = new Set<string>(), ...others] = (node.BoolExpr.args ?? []).map(arg =>
      boundBy(arg, scope, columnsOf),
    );
    if (node.BoolExpr.boolop === 'AND_EXPR') return new Set([first, ...others].flatMap(keys => [...keys]));
    if (node.BoolExpr.boolop === 'OR_EXPR')
      return new Set([...first].filter(key => others.every(keys => keys.has(key))));
    return new Set();
  }
  const keys = new Set<string>();
  const add = (target: Node | undefined): void => {
    for (const place of placesOf(target, scope))
      if (scope.relations.includes(place.relation)) keys.add(keyOf(scope, place));
  };
  if ('SubLink' in node) {
    const { subLinkType, testexpr, operName, subselect } = node.SubLink;
    if (subLinkType !== 'ANY_SUBLINK' || operName?.some(name => nameOf(name) !== '=')) return keys;
    if (!subselect || !('SelectStmt' in subselect)) return keys;
    const columns = columnsOf(subselect.SelectStmt, scope);
    for (const [index, item] of itemsOf(testexpr).entries()) if (columns[index]?.bound) add(item);
  }
  if ('A_Expr' in node && EQUALITIES.has(node.A_Expr.kind ?? '') && nameOf(node.A_Expr.name?.[0]) === '=') {
    const { kind, lexpr, rexpr } = node.A_Expr;
    const isRow = kind === 'AEXPR_OP' && lexpr && 'RowExpr' in lexpr;
    const [left, right] = isRow ? [itemsOf(lexpr), itemsOf(rexpr)] : [[lexpr], [rexpr]];
    for (const [index, one] of left.entries()) {
      const other = right[index];
      if (isBound(other, scope, columnsOf)) add(one);
      if (kind !== 'AEXPR_IN' && kind !== 'AEXPR_OP_ANY' && isBound(one, scope, columnsOf)) add(other);
    }
  }
  return keys;
}

const EQUALITIES: ReadonlySet<string> = new Set(['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN', 'AEXPR_NOT_DISTINCT']);

const itemsOf = (node: Node | undefined): readonly (Node | undefined)[] =>
  node && 'RowExpr' in node ? (node.RowExpr.args ?? []) : [node];
