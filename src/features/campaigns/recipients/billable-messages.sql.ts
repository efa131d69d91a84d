import { sql } from 'kysely';
import type { Db } from '../../../database/database.ts';

/** Billable messages of a campaign that were delivered, with what their price depends on. */
export interface BillableCount {
  readonly campaign_id: number;
  /** ISO 3166-1 alpha-2; empty: not known. */
  readonly country: string;
  /** As the network names it; empty: not named. */
  readonly category: string;
  /** Of the last start that is not after the hour of their acceptance, from 1; 0: before all of them. */
  readonly place: number;
  readonly messages: number;
}

/**
 * Counts billable messages of campaigns by what their price depends on. Statuses and prices may arrive in any order.
 * @param starts times at which prices change, ascending, full hours: the hours between two of them are one row
 */
export async function countBillable(
  db: Db,
  tenantId: number,
  campaignIds: readonly number[],
  starts: readonly number[],
): Promise<readonly BillableCount[]> {
  const counted = (table: 'message_statistics' | 'message_statistics_pending') => sql`
    select t.campaign_id, t.country, t.category, t.hour, t.messages from ${sql.table(table)} t
    where t.tenant_id = ${tenantId} and t.campaign_id = any(${campaignIds}::bigint[]) and t.campaign_id <> 0
      and t.is_billable and t.status in ('delivered', 'read')`;
  // One statement: a change is in one of the tables.
  const { rows } = await sql<BillableCount>`
    select c.campaign_id, c.country, c.category, width_bucket(c.hour, ${starts.map(ms => new Date(ms).toISOString())}::timestamptz[]) as place,
      sum(c.messages)::bigint as messages
    from (${counted('message_statistics')} union all ${counted('message_statistics_pending')}) c
    group by 1, 2, 3, 4 having sum(c.messages) <> 0`.execute(db);
  return rows;
}
