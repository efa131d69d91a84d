import type { Context } from '../../context.ts';
import { tenantOf } from '../caller.ts';
import { type ListArgs, type ListDefinition, listStatement, Page } from '../lists/list.ts';
import { LABELS, type LabelKind, type LabelRow } from './label.ts';
import { countLabels, listLabels } from './store.ts';

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
  search: pattern => `lower(l.name) like ${pattern}`,
});

/** One page of the labels of a kind. */
export async function labelPage(context: Context, kind: LabelKind, args: ListArgs): Promise<Page<LabelRow>> {
  const statement = listStatement(definitionOf(kind), tenantOf(context), args);
  const rows = await listLabels(context.db.read, kind, statement);
  return new Page(statement, rows, () => countLabels(context.db.read, statement));
}
