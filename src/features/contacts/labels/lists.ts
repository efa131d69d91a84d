import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { countList, type ListDefinition, listStatement, Page } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { merged, type Selection, selectionAt } from '../../../schema/selection.ts';
import { LABELS, type LabelKind, type LabelRow } from './label.ts';
import { listLabels } from './store.ts';

const id = { sql: 'l.id', type: 'bigint' } as const;
const name = { sql: 'l.name', type: 'text' } as const;
const createdAt = { sql: 'l.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 'l.updated_at', type: 'timestamptz' } as const;

const definitionOf = (kind: LabelKind): ListDefinition => ({
  from: `${LABELS[kind].table} l`,
  tenantColumn: 'l.tenant_id',
  filters: { id: { ...id, node: LABELS[kind].type }, name, createdAt, updatedAt },
  sorts: { id, name, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: 'search_fold(l.name)',
});

const COLUMN_OF: Readonly<Record<string, keyof LabelRow>> = {
  name: 'name',
  color: 'color',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** The columns of a selection. The id is always among them, because global ids and member counts need it. */
function columnsOf(kind: LabelKind, selection: Selection): readonly (keyof LabelRow)[] {
  const selected = new Set([...selection.keys()].map(field => COLUMN_OF[field]));
  return LABELS[kind].columns.filter(column => column === 'id' || selected.has(column));
}

/** One page of labels of a kind, with the selected columns. */
export async function labelPage(
  context: Context,
  kind: LabelKind,
  args: ListArgs,
  selection: Selection,
): Promise<Page<LabelRow>> {
  const statement = listStatement(definitionOf(kind), tenantOf(context), args);
  const nodes = merged(selectionAt(selection, 'edges', 'node'), selectionAt(selection, 'nodes'));
  const rows = await listLabels(context.db.read, columnsOf(kind, nodes), statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}
