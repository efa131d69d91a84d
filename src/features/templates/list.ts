import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listStatement, Page } from '../../database/list.ts';
import { countList } from '../../database/page.ts';
import type { Context } from '../../schema/context.ts';
import { listTemplates } from './store.ts';
import { CATEGORIES, QUALITIES, STATUSES, type TemplateRow } from './template.ts';

const id = { sql: 't.id', type: 'bigint' } as const;
const name = { sql: 't.name', type: 'text' } as const;
const createdAt = { sql: 't.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 't.updated_at', type: 'timestamptz' } as const;

/** A column of the network's words as its enum has them. */
const wordColumn = (column: string, words: readonly string[], other: string) =>
  ({
    sql: `case when ${column} in (${words.map(word => `'${word}'`).join(', ')}) then ${column} else '${other}' end`,
    type: 'text',
  }) as const;

const TEMPLATES: ListDefinition = {
  from: 'templates t',
  tenantColumn: 't.tenant_id',
  filters: {
    id: { ...id, node: 'Template' },
    name,
    language: { sql: 't.language', type: 'text' },
    category: wordColumn('t.category', CATEGORIES, 'OTHER'),
    networkCategory: { sql: 't.category', type: 'text' },
    status: wordColumn('t.status', STATUSES, 'OTHER'),
    networkStatus: { sql: 't.status', type: 'text' },
    quality: wordColumn('t.quality', QUALITIES, 'UNKNOWN'),
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
