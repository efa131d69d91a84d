import type { ListArgs } from '../../core/list-args.ts';
import type { Db } from '../../database/database.ts';
import { anyOf } from '../../database/expressions.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../database/list.ts';
import type { UnhandledReason } from '../../network/updates.ts';

/** A change of a webhook that was not applied when it arrived. */
export interface ChangeRow {
  readonly id: string;
  readonly channel_id: number | null;
  readonly field: string;
  readonly reason: UnhandledReason;
  readonly error: string | null;
  readonly raw: unknown;
  readonly received_at: string;
  readonly handled_at: string | null;
}

const COLUMNS = [
  'id',
  'channel_id',
  'field',
  'reason',
  'error',
  'raw',
  'received_at',
  'handled_at',
] as const satisfies readonly (keyof ChangeRow)[];

export const getChanges = (db: Db, tenantId: number, ids: readonly string[]): Promise<ChangeRow[]> =>
  db
    .selectFrom('network_changes')
    .select(COLUMNS)
    .$narrowType<Pick<ChangeRow, 'reason'>>()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .execute();

const column = listColumns('network_changes', 'c');
const id = column('id', 'uuid');
const receivedAt = column('received_at', 'timestamptz');

const CHANGES: ListDefinition = {
  from: 'network_changes c',
  tenantColumn: 'c.tenant_id',
  filters: {
    id: { ...id, node: 'NetworkChange' },
    field: column('field', 'text'),
    channelId: { ...column('channel_id', 'bigint'), node: 'Channel' },
    isHandled: { sql: '(c.handled_at is not null)', type: 'boolean' },
    receivedAt,
  },
  sorts: { id, receivedAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
};

/** One page of changes, the latest first by default. */
export const listChanges = (db: Db, tenantId: number, args: ListArgs): Promise<Page<ChangeRow>> =>
  readPage<ChangeRow>(
    db,
    CHANGES,
    tenantId,
    args,
    COLUMNS.map(one => `c.${one}` as const),
  );
