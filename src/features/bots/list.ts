import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../database/list.ts';
import type { Context } from '../../schema/context.ts';
import { BOT_COLUMNS, type BotRow } from './bot.ts';

const column = listColumns('bots', 'b');
const id = column('id', 'bigint');
const name = column('name', 'text');
const priority = column('priority', 'bigint');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

const BOTS: ListDefinition = {
  from: 'bots b',
  tenantColumn: 'b.tenant_id',
  filters: {
    id: { ...id, node: 'Bot' },
    name,
    kind: column('kind', 'text'),
    trigger: column('trigger', 'text'),
    isEnabled: column('is_enabled', 'boolean'),
    createdAt,
    updatedAt,
  },
  sorts: { id, name, priority, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: `search_fold(b.name || ' ' || array_to_string(b.keywords, ' '))`,
};

const SELECT = BOT_COLUMNS.map(name => `b.${name}` as const);

/** One page of bots, oldest first by default. */
export const botPage = (context: Context, args: ListArgs): Promise<Page<BotRow>> =>
  readPage<BotRow>(context.db.read, BOTS, tenantOf(context), args, SELECT);
