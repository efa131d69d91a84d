import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../database/list.ts';
import type { Context } from '../../schema/context.ts';
import { CAMPAIGN_COLUMNS, type CampaignRow } from './campaign.ts';

const column = listColumns('campaigns', 'k');
const id = column('id', 'bigint');
const name = column('name', 'text');
const status = column('status', 'text');
const createdAt = column('created_at', 'timestamptz');
const updatedAt = column('updated_at', 'timestamptz');

const CAMPAIGNS: ListDefinition = {
  from: 'campaigns k',
  tenantColumn: 'k.tenant_id',
  filters: {
    id: { ...id, node: 'Campaign' },
    name,
    status,
    channelId: { ...column('channel_id', 'bigint'), node: 'Channel' },
    scheduledAt: column('scheduled_at', 'timestamptz'),
    startedAt: column('started_at', 'timestamptz'),
    createdAt,
    updatedAt,
  },
  sorts: { id, name, createdAt, updatedAt },
  id,
  defaultOrder: [{ column: id, descending: true }],
  search: 'search_fold(k.name)',
};

const SELECT = CAMPAIGN_COLUMNS.map(name => `k.${name}` as const);

/** One page of campaigns, newest first by default. */
export const campaignPage = (context: Context, args: ListArgs): Promise<Page<CampaignRow>> =>
  readPage<CampaignRow>(context.db.read, CAMPAIGNS, tenantOf(context), args, SELECT);
