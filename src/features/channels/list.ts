import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../database/list.ts';
import type { Context } from '../../schema/context.ts';
import type { PublicChannel } from './channel.ts';
import { CHANNEL_COLUMNS } from './store.ts';

const column = listColumns('channels', 'c');
const id = column('id', 'bigint');
const name = column('name', 'text');
const dates = { createdAt: column('created_at', 'timestamptz'), updatedAt: column('updated_at', 'timestamptz') };

const CHANNELS: ListDefinition = {
  from: 'channels c',
  tenantColumn: 'c.tenant_id',
  filters: {
    id: { ...id, node: 'Channel' },
    name,
    phoneNumberId: column('phone_number_id', 'text'),
    wabaId: column('waba_id', 'text'),
    status: column('status', 'text'),
    isDefault: column('is_default', 'boolean'),
    ...dates,
  },
  sorts: { id, name, ...dates },
  id,
  defaultOrder: [{ column: id, descending: false }],
  search: `search_fold(c.name || ' ' || c.verified_name || ' ' || c.display_phone_number)`,
};

const COLUMNS = CHANNEL_COLUMNS.map(one => `c.${one}` as const);

/** One page of channels, by default in the order in which they were connected first. */
export const channelPage = (context: Context, args: ListArgs): Promise<Page<PublicChannel>> =>
  readPage<PublicChannel>(context.db.read, CHANNELS, tenantOf(context), args, COLUMNS);
