import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listStatement, Page } from '../../database/list.ts';
import { countList } from '../../database/page.ts';
import type { Context } from '../../schema/context.ts';
import { listTemplates } from './store.ts';
import type { TemplateRow } from './template.ts';

const id = { sql: 't.id', type: 'bigint' } as const;
const name = { sql: 't.name', type: 'text' } as const;
const createdAt = { sql: 't.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 't.updated_at', type: 'timestamptz' } as const;

const TEMPLATES: ListDefinition = {
  from: 'templates t',
  tenantColumn: 't.tenant_id',
  filters: {
    name,
    language: { sql: 't.language', type: 'text' },
    category: { sql: 't.category', type: 'text' },
    status: { sql: 't.status', type: 'text' },
    wabaId: { sql: 't.waba_id', type: 'text' },
    createdAt,
    updatedAt,
  },
  sorts: { id, name, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: 't.search_text',
};

/** One page of templates, by default in the order of their names. */
export async function templatePage(context: Context, args: ListArgs): Promise<Page<TemplateRow>> {
  const statement = listStatement(TEMPLATES, tenantOf(context), args);
  const rows = await listTemplates(context.db.read, statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}
