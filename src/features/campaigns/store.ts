import type { Author } from '../../core/author.ts';
import type { Db } from '../../database/database.ts';
import { anyOf, transactionTime } from '../../database/expressions.ts';
import { CAMPAIGN_COLUMNS, type CampaignFields, type CampaignRow } from './campaign.ts';
import type { CampaignStatus } from './state.ts';

/** Columns that are text or JSON in the table. */
type Narrow = Pick<CampaignRow, 'status' | 'template' | 'audience' | 'sending_hours' | 'frequency_cap' | 'author'>;

export const getCampaigns = (db: Db, tenantId: number, ids: readonly number[]): Promise<CampaignRow[]> =>
  db
    .selectFrom('campaigns')
    .select(CAMPAIGN_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', anyOf(ids))
    .$narrowType<Narrow>()
    .execute();

export const lockCampaign = (trx: Db, tenantId: number, id: number): Promise<CampaignRow | undefined> =>
  trx
    .selectFrom('campaigns')
    .select(CAMPAIGN_COLUMNS)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .$narrowType<Narrow>()
    .executeTakeFirst();

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const valuesOf = ({ template, audience, sending_hours, frequency_cap, ...fields }: CampaignFields) => ({
  ...fields,
  template: JSON.stringify(template),
  audience: JSON.stringify(audience),
  sending_hours: json(sending_hours),
  frequency_cap: json(frequency_cap),
});

export const insertCampaign = (
  trx: Db,
  tenantId: number,
  fields: CampaignFields,
  author: Author,
): Promise<CampaignRow> =>
  trx
    .insertInto('campaigns')
    .values({ tenant_id: tenantId, ...valuesOf(fields), author: JSON.stringify(author) })
    .returning(CAMPAIGN_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

export const updateCampaign = (trx: Db, tenantId: number, id: number, fields: CampaignFields): Promise<CampaignRow> =>
  trx
    .updateTable('campaigns')
    .set({ ...valuesOf(fields), updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CAMPAIGN_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

/** Further columns of a status change. */
export interface StatusChange {
  readonly status: CampaignStatus;
  readonly status_code?: string | null;
  readonly status_reason?: string | null;
  readonly scheduled_at?: string;
  readonly channel_id?: number;
  readonly started_at?: string;
  readonly ended_at?: string;
}

export const writeStatus = (trx: Db, tenantId: number, id: number, change: StatusChange): Promise<CampaignRow> =>
  trx
    .updateTable('campaigns')
    .set({ status_code: null, status_reason: null, ...change, updated_at: transactionTime })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .returning(CAMPAIGN_COLUMNS)
    .$narrowType<Narrow>()
    .executeTakeFirstOrThrow();

/** Deletes a campaign with its recipients. Its messages stay. */
export async function deleteCampaign(trx: Db, tenantId: number, id: number): Promise<void> {
  await trx.deleteFrom('campaign_recipients').where('tenant_id', '=', tenantId).where('campaign_id', '=', id).execute();
  await trx.deleteFrom('campaigns').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}
