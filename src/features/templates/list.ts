import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../database/list.ts';
import type { ListColumn } from '../../database/list-sql.ts';
import type { Context } from '../../schema/context.ts';
import { CATEGORIES, QUALITIES, STATUSES, TEMPLATE_COLUMNS, type TemplateRow } from './template.ts';

const column = listColumns('templates', 't');
const id = column('id', 'bigint');
const name = column('name', 'text');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

/** A column of the network's words as its enum has them. */
const wordColumn = ({ sql }: ListColumn, words: readonly string[], other: string): ListColumn => ({
  sql: `case when ${sql} in (${words.map(word => `'${word}'`).join(', ')}) then ${sql} else '${other}' end`,
  type: 'text',
});

const category = column('category', 'text');
const status = column('status', 'text');

const TEMPLATES: ListDefinition = {
  from: 'templates t',
  tenantColumn: 't.tenant_id',
  filters: {
    id: { ...id, node: 'Template' },
    name,
    language: column('language', 'text'),
    category: wordColumn(category, CATEGORIES, 'OTHER'),
    networkCategory: category,
    status: wordColumn(status, STATUSES, 'OTHER'),
    networkStatus: status,
    quality: wordColumn(column('quality', 'text'), QUALITIES, 'UNKNOWN'),
    wabaId: column('waba_id', 'text'),
    createdAt,
    updatedAt,
  },
  sorts: { id, name, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: name, descending: false }],
  search: 't.search_text',
};

const SELECT = TEMPLATE_COLUMNS.map(one => `t.${one}` as const);

/** One page of templates, by default in the order of their names. */
export const templatePage = (context: Context, args: ListArgs): Promise<Page<TemplateRow>> =>
  readPage<TemplateRow>(context.db.read, TEMPLATES, tenantOf(context), args, SELECT);
