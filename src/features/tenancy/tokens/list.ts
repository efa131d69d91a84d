import type { ListArgs } from '../../../core/list-args.ts';
import { tenantOf } from '../../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../../database/list.ts';
import type { Context } from '../../../schema/context.ts';
import { type AccessTokenRow, TOKEN_COLUMNS } from './store.ts';

const column = listColumns('access_tokens', 't');
const id = column('id', 'bigint');
const name = column('name', 'text');
const createdAt = column('created_at', 'timestamptz');
const expiresAt = column('expires_at', 'timestamptz');
const revokedAt = column('revoked_at', 'timestamptz');
const lastUsedAt = column('last_used_at', 'timestamptz');

const TOKENS: ListDefinition = {
  from: 'access_tokens t',
  tenantColumn: 't.tenant_id',
  filters: { id: { ...id, node: 'AccessToken' }, name, createdAt, expiresAt, revokedAt, lastUsedAt },
  sorts: { id, name, createdAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(t.name)',
};

const SELECT = TOKEN_COLUMNS.map(name => `t.${name}` as const);

/** One page of access tokens, newest first by default. */
export const tokenPage = (context: Context, args: ListArgs): Promise<Page<AccessTokenRow>> =>
  readPage<AccessTokenRow>(context.db.read, TOKENS, tenantOf(context), args, SELECT);
