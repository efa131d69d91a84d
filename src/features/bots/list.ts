import type { Context } from '../../context.ts';
import { tenantOf } from '../caller.ts';
import { countList } from '../lists/count.ts';
import { type ListArgs, type ListDefinition, listStatement, Page } from '../lists/list.ts';
import type { BotRow } from './bot.ts';
import { listBots } from './store.ts';

const id = { sql: 'b.id', type: 'bigint' } as const;
const name = { sql: 'b.name', type: 'text' } as const;
const priority = { sql: 'b.priority', type: 'bigint' } as const;
const createdAt = { sql: 'b.created_at', type: 'timestamptz' } as const;
const updatedAt = { sql: 'b.updated_at', type: 'timestamptz' } as const;

const BOTS: ListDefinition = {
  from: 'bots b',
  tenantColumn: 'b.tenant_id',
  filters: {
    name,
    kind: { sql: 'b.kind', type: 'text' },
    trigger: { sql: 'b.trigger', type: 'text' },
    isEnabled: { sql: 'b.is_enabled', type: 'boolean' },
    createdAt,
    updatedAt,
  },
  sorts: { id, name, priority, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: pattern => `lower(b.name || ' ' || array_to_string(b.keywords, ' ')) like ${pattern}`,
};

/** One page of bots, the oldest first where nothing else is asked. */
export async function botPage(context: Context, args: ListArgs): Promise<Page<BotRow>> {
  const statement = listStatement(BOTS, tenantOf(context), args);
  const rows = await listBots(context.db.read, statement);
  return new Page(statement, rows, () => countList(context.db.read, statement));
}
