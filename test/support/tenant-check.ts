import {
  type Alias,
  type DeleteStmt,
  type InsertStmt,
  loadModule,
  type Node,
  parseSync,
  type RangeVar,
  type SelectStmt,
  type UpdateStmt,
  type WithClause,
} from 'libpg-query';
import {
  bind,
  type Column,
  type Condition,
  isBound,
  nameOf,
  type Relation,
  renamed,
  type Scope,
} from './tenant-scope.ts';

await loadModule();

/**
 * Finds the tables of tenants that a statement reads or writes without restricting them to a tenant: in each query and subquery,
 * `tenant_id` must equal a parameter, or a column that does, by a condition that every row satisfies. An inserted row takes its
 * tenant from a parameter or from such a column.
 *
 * Which parameter holds the tenant cannot be seen; that callers pass the right one is tested by test/graphql/tenant-isolation.
 *
 * @param tables columns of all tables, by table
 * @throws SqlError if PostgreSQL's parser rejects the text
 */
export function unboundTables(text: string, tables: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const check = new TenantCheck(tables);
  for (const { stmt } of parseSync(text).stmts ?? []) if (stmt) check.statement(stmt, ROOT);
  return [...check.unbound];
}

const ROOT: Scope = { relations: [], parent: undefined, ctes: new Map() };

class TenantCheck {
  readonly unbound = new Set<string>();
  readonly #tables: ReadonlyMap<string, ReadonlySet<string>>;
  /** Above 0 while columns are still being bound, because a table may then seem unbound that is not. */
  #probing = 0;

  constructor(tables: ReadonlyMap<string, ReadonlySet<string>>) {
    this.#tables = tables;
  }

  /** @returns the columns of the result, or of `returning` */
  statement(node: Node, outer: Scope): readonly Column[] {
    if ('SelectStmt' in node) return this.#select(node.SelectStmt, outer);
    if ('InsertStmt' in node) return this.#insert(node.InsertStmt, outer);
    if ('UpdateStmt' in node) return this.#change(node.UpdateStmt, node.UpdateStmt.fromClause, outer);
    if ('DeleteStmt' in node) return this.#change(node.DeleteStmt, node.DeleteStmt.usingClause, outer);
    if ('MergeStmt' in node) throw new Error('MERGE is not checked for tenants yet.');
    if ('ExplainStmt' in node && node.ExplainStmt.query) return this.statement(node.ExplainStmt.query, outer);
    if ('DeclareCursorStmt' in node && node.DeclareCursorStmt.query)
      return this.statement(node.DeclareCursorStmt.query, outer);
    if ('CopyStmt' in node) {
      const { relation, query } = node.CopyStmt;
      if (query) return this.statement(query, outer);
      if (relation && this.#hasTenant(relation.relname)) this.unbound.add(relation.relname ?? '');
    }
    return [];
  }

  #select(select: SelectStmt, outer: Scope): readonly Column[] {
    const scope = this.#scope(select.withClause, outer);
    const { larg, rarg, valuesLists } = select;
    if (larg && rarg) {
      const right = this.#select(rarg, scope);
      return this.#select(larg, scope).map(({ name, bound }, index) => ({
        name,
        bound: bound && right[index]?.bound === true,
      }));
    }
    const conditions = this.#from(select.fromClause, scope);
    if (select.whereClause) conditions.push({ expression: select.whereClause, restricts: new Set(scope.relations) });
    this.#settle(conditions, select.fromClause, scope);
    const { withClause: _with, fromClause: _from, whereClause: _where, ...rest } = select;
    this.#subqueries(rest, scope);
    if (valuesLists) {
      const rows = valuesLists.map(row => ('List' in row ? (row.List.items ?? []) : []));
      return (rows[0] ?? []).map((_, index) => ({
        name: `column${index + 1}`,
        bound: rows.every(row => this.#isBound(row[index], scope)),
      }));
    }
    return this.#outputs(select.targetList, scope);
  }

  #insert(insert: InsertStmt, outer: Scope): readonly Column[] {
    const scope = this.#scope(insert.withClause, outer);
    const columns = insert.selectStmt ? this.statement(insert.selectStmt, scope) : [];
    const names = (insert.cols ?? []).map(column => ('ResTarget' in column ? column.ResTarget.name : undefined));
    const target = this.#table(insert.relation ?? {}, scope);
    for (const [index, name] of names.entries()) if (name && columns[index]?.bound) target.columns.set(name, true);
    const excluded = { name: 'excluded', columns: new Map(target.columns), unnamed: false };
    scope.relations.push(target, excluded);
    this.#report(scope);
    this.#subqueries([insert.onConflictClause, insert.returningClause], scope);
    scope.relations.pop();
    return this.#outputs(insert.returningClause?.exprs, scope);
  }

  #change(change: UpdateStmt | DeleteStmt, from: readonly Node[] | undefined, outer: Scope): readonly Column[] {
    const scope = this.#scope(change.withClause, outer);
    scope.relations.push(this.#table(change.relation ?? {}, scope));
    const conditions = this.#from(from, scope);
    if (change.whereClause) conditions.push({ expression: change.whereClause, restricts: new Set(scope.relations) });
    this.#settle(conditions, from, scope);
    this.#subqueries(['targetList' in change ? change.targetList : [], change.returningClause], scope);
    return this.#outputs(change.returningClause?.exprs, scope);
  }

  /** A nested scope with the common table expressions of a `with` clause. */
  #scope(clause: WithClause | undefined, parent: Scope): Scope {
    const ctes = new Map(parent.ctes);
    const scope: Scope = { relations: [], parent, ctes };
    for (const node of clause?.ctes ?? []) {
      const { ctename = '', ctequery, aliascolnames } = 'CommonTableExpr' in node ? node.CommonTableExpr : {};
      if (!ctequery) continue;
      const alias = aliascolnames && { colnames: aliascolnames };
      const recursive = clause?.recursive && 'SelectStmt' in ctequery ? ctequery.SelectStmt.larg : undefined;
      // The first branch of a recursive query defines the columns of its name in the second one.
      if (recursive)
        ctes.set(
          ctename,
          renamed(
            this.#probe(() => this.#select(recursive, scope)),
            alias,
          ),
        );
      ctes.set(ctename, renamed(this.statement(ctequery, scope), alias));
    }
    return scope;
  }

  /** Adds the relations of a `from` clause to the scope. @returns the conditions of its joins */
  #from(items: readonly Node[] | undefined, scope: Scope): Condition[] {
    const conditions: Condition[] = [];
    for (const item of items ?? []) this.#fromItem(item, scope, conditions);
    return conditions;
  }

  #fromItem(node: Node, scope: Scope, conditions: Condition[]): readonly Relation[] {
    const added = (relation: Relation): readonly Relation[] => {
      scope.relations.push(relation);
      return [relation];
    };
    if ('RangeVar' in node) return added(this.#table(node.RangeVar, scope));
    if ('RangeSubselect' in node || 'RangeFunction' in node) return added(derived(node, node));
    if (!('JoinExpr' in node)) throw new Error(`Unknown in a from clause: ${Object.keys(node).join()}.`);
    const { jointype, larg, rarg, quals, usingClause = [], isNatural } = node.JoinExpr;
    if (isNatural) throw new Error('Natural joins are not checked for tenants.');
    const left = larg ? this.#fromItem(larg, scope, conditions) : [];
    const right = rarg ? this.#fromItem(rarg, scope, conditions) : [];
    const restricts = new Set([
      ...(jointype === 'JOIN_INNER' || jointype === 'JOIN_RIGHT' ? left : []),
      ...(jointype === 'JOIN_INNER' || jointype === 'JOIN_LEFT' ? right : []),
    ]);
    if (quals) conditions.push({ expression: quals, restricts });
    for (const column of usingClause) conditions.push(...sameColumn(nameOf(column), left, right, restricts));
    return [...left, ...right];
  }

  #table({ relname = '', alias }: RangeVar, { ctes }: Scope): Relation {
    const name = alias?.aliasname ?? relname;
    const cte = ctes.get(relname);
    if (cte) return relationOf(name, renamed(cte, alias));
    const columns = [...(this.#tables.get(relname) ?? [])].map(column => ({ name: column, bound: false }));
    return { ...relationOf(name, columns), table: relname };
  }

  /** Applies the conditions until nothing more gets bound, then reports the tables that are not. */
  #settle(conditions: readonly Condition[], from: readonly Node[] | undefined, scope: Scope): void {
    this.#probe(() => {
      let goesOn = true;
      while (goesOn) {
        goesOn = this.#derive(from, scope);
        for (const condition of conditions) if (bind(condition, scope, this.#columnsOf)) goesOn = true;
      }
    });
    this.#report(scope);
    this.#derive(from, scope);
    this.#subqueries(
      conditions.map(({ expression }) => expression),
      scope,
    );
  }

  #report({ relations }: Scope): void {
    if (this.#probing > 0) return;
    for (const { table, columns } of relations)
      if (table !== undefined && this.#hasTenant(table) && !columns.get('tenant_id')) this.unbound.add(table);
  }

  /** Reads the columns of subqueries and functions, which may refer to relations before them. @returns whether any became bound */
  #derive(items: readonly Node[] | undefined, scope: Scope): boolean {
    let isNew = false;
    for (const node of items ?? []) {
      if ('JoinExpr' in node) {
        const { larg, rarg } = node.JoinExpr;
        if (
          this.#derive(
            [larg, rarg].filter(side => side !== undefined),
            scope,
          )
        )
          isNew = true;
        continue;
      }
      const relation = scope.relations.find(({ columns }) => SOURCES.get(columns) === node);
      if (!relation) continue;
      for (const { name, bound } of this.#derived(node, scope, relation)) {
        if (bound && !relation.columns.get(name)) isNew = true;
        relation.columns.set(name, bound || relation.columns.get(name) === true);
      }
    }
    return isNew;
  }

  #derived(node: Node, scope: Scope, relation: Relation): readonly Column[] {
    if ('RangeSubselect' in node) {
      const { subquery, alias } = node.RangeSubselect;
      return subquery ? renamed(this.statement(subquery, scope), alias) : [];
    }
    if (!('RangeFunction' in node)) return [];
    const { functions = [], alias, coldeflist = [] } = node.RangeFunction;
    const bound = functions.every(item => this.#isBound('List' in item ? item.List.items?.[0] : item, scope));
    relation.unnamed = bound;
    const names = [
      ...(alias?.colnames ?? []).map(nameOf),
      ...coldeflist.map(item => ('ColumnDef' in item ? (item.ColumnDef.colname ?? '') : '')),
    ];
    return (names.length > 0 ? names : [relation.name]).map(name => ({ name, bound }));
  }

  #outputs(targets: readonly Node[] | undefined, scope: Scope): readonly Column[] {
    return (targets ?? []).flatMap(target => {
      const { name, val } = 'ResTarget' in target ? target.ResTarget : {};
      const fields = val && 'ColumnRef' in val ? (val.ColumnRef.fields ?? []) : [];
      const last = fields.at(-1);
      if (!last || !('A_Star' in last)) return [{ name: name ?? nameOf(last) ?? '', bound: this.#isBound(val, scope) }];
      const owner = fields.length > 1 ? nameOf(fields[0]) : undefined;
      const shown = scope.relations.filter(relation => owner === undefined || relation.name === owner);
      return shown.flatMap(({ columns }) => [...columns].map(([column, bound]) => ({ name: column, bound })));
    });
  }

  /** Checks the subqueries of expressions. */
  #subqueries(part: unknown, scope: Scope): void {
    if (this.#probing > 0 || part === null || typeof part !== 'object') return;
    if ('SubLink' in part) {
      const { subselect, testexpr } = (part as Extract<Node, { SubLink: unknown }>).SubLink;
      if (subselect) this.statement(subselect, scope);
      this.#subqueries(testexpr, scope);
    } else for (const inner of Object.values(part)) this.#subqueries(inner, scope);
  }

  readonly #columnsOf = (select: SelectStmt, parent: Scope): readonly Column[] =>
    this.#probe(() => this.#select(select, parent));

  #isBound(node: Node | undefined, scope: Scope): boolean {
    return isBound(node, scope, this.#columnsOf);
  }

  #probe<T>(read: () => T): T {
    this.#probing += 1;
    try {
      return read();
    } finally {
      this.#probing -= 1;
    }
  }

  #hasTenant(table: string | undefined): boolean {
    return this.#tables.get(table ?? '')?.has('tenant_id') === true;
  }
}

const relationOf = (name: string, columns: readonly Column[]): Relation => ({
  name,
  columns: new Map(columns.map(column => [column.name, column.bound])),
  unnamed: false,
});

/** The node that a derived relation was made from, by its columns. */
const SOURCES = new WeakMap<object, Node>();

function derived(
  node: Extract<Node, { RangeSubselect: unknown } | { RangeFunction: unknown }>,
  source: Node,
): Relation {
  const alias: Alias | undefined = 'RangeSubselect' in node ? node.RangeSubselect.alias : node.RangeFunction.alias;
  const relation = relationOf(alias?.aliasname ?? functionName(node), []);
  SOURCES.set(relation.columns, source);
  return relation;
}

function functionName(node: Node): string {
  const [item] = 'RangeFunction' in node ? (node.RangeFunction.functions ?? []) : [];
  const call = item && 'List' in item ? item.List.items?.[0] : undefined;
  return call && 'FuncCall' in call ? nameOf(call.FuncCall.funcname?.at(-1)) : '';
}

/** `using (column)` as an equality of each column on the left with each on the right. */
function sameColumn(
  column: string,
  left: readonly Relation[],
  right: readonly Relation[],
  restricts: ReadonlySet<Relation>,
): Condition[] {
  const reference = ({ name }: Relation): Node => ({
    ColumnRef: { fields: [{ String: { sval: name } }, { String: { sval: column } }] },
  });
  const has = ({ columns }: Relation): boolean => columns.size === 0 || columns.has(column);
  return left.filter(has).flatMap(one =>
    right.filter(has).map(other => ({
      restricts,
      expression: {
        A_Expr: {
          kind: 'AEXPR_OP' as const,
          name: [{ String: { sval: '=' } }],
          lexpr: reference(one),
          rexpr: reference(other),
        },
      },
    })),
  );
}
