import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** Billable messages of a campaign that were delivered, with what their price depends on. */
export interface BillableCount {
  readonly campaign_id: number;
  /** ISO 3166-1 alpha-2; empty: not known. */
  readonly country: string;
  /** As the network names it; empty: not named. */
  readonly category: string;
  /** Of their acceptance. */
  readonly hour: string;
  readonly messages: number;
}

/** Counts billable messages of campaigns by what their price depends on: a few rows for each hour. Statuses and prices may arrive in any order. */
export async function countBillable(
  db: Db,
  tenantId: number,
  campaignIds: readonly number[],
): Promise<readonly BillableCount[]> {
  const counted = (table: 'message_statistics' | 'message_statistics_pending') => sql`
    select t.campaign_id, t.country, t.category, t.hour, t.messages from ${sql.table(table)} t
    where t.tenant_id = ${tenantId} and t.campaign_id = any(${campaignIds}::bigint[]) and t.campaign_id <> 0
      and t.is_billable and t.status in ('delivered', 'read')`;
  // One statement: a change is in one of the tables.
  const { rows } = await sql<BillableCount>`
    select c.campaign_id, c.country, c.category, c.hour, sum(c.messages)::bigint as messages
    from (${counted('message_statistics')} union all ${counted('message_statistics_pending')}) c
    group by 1, 2, 3, 4 having sum(c.messages) <> 0`.execute(db);
  return rows;
}
