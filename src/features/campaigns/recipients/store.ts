import { sql } from 'kysely';
import type { PriceTable } from '../../../core/price-table.ts';
import type { Db } from '../../../database/database.ts';
import { anyOf } from '../../../database/expressions.ts';
import type { MoneyShape } from '../../../schema/money.ts';
import { countBillable } from './billable-messages.sql.ts';
import { costsOf, type Failure, type Progress } from './progress.ts';
import { reasonOf, type SkipReason, STATE } from './recipient.ts';

/** The progress of campaigns without their costs, by id. Two statements read rows that are counted already. */
export async function getProgress(db: Db, tenantId: number, ids: readonly number[]): Promise<Map<number, Progress>> {
  const [rows, failures] = await Promise.all([
    db
      .selectFrom('campaigns as k')
      .leftJoin('campaign_progress as p', join =>
        join.onRef('p.tenant_id', '=', 'k.tenant_id').onRef('p.campaign_id', '=', 'k.id'),
      )
      .select(['k.id', 'k.total', 'k.pending', 'k.skipped'])
      .select(['p.sent', 'p.delivered', 'p.read', 'p.failed', 'p.replied', 'p.opted_out'])
      .where('k.tenant_id', '=', tenantId)
      .where('k.id', '=', anyOf(ids))
      .execute(),
    failuresOf(db, tenantId, ids),
  ]);
  return new Map(
    rows.map(({ id, total, pending, skipped, sent, delivered, read, failed, replied, opted_out: optedOut }) => [
      id,
      {
        ...{ id, total, pending, skipped },
        ...{ sent: sent ?? 0, delivered: delivered ?? 0, read: read ?? 0, failed: failed ?? 0 },
        ...{ replied: replied ?? 0, opted_out: optedOut ?? 0 },
        failures: failures.get(id) ?? [],
      },
    ]),
  );
}

/** Costs of the delivered messages of campaigns, in the order of the ids; empty without prices, for which nothing is read. */
export async function getCosts(
  db: Db,
  tenantId: number,
  ids: readonly number[],
  prices: PriceTable | undefined,
): Promise<MoneyShape[][]> {
  if (!prices) return ids.map(() => []);
  const counts = await countBillable(db, tenantId, ids, prices.boundaries);
  const byCampaign = Map.groupBy(counts, count => count.campaign_id);
  return ids.map(id => costsOf(prices, byCampaign.get(id) ?? []));
}

/** People who were skipped for one reason. */
export interface SkipCount {
  readonly reason: SkipReason;
  readonly count: number;
}

/**
 * Why recipients of campaigns were skipped, most frequent first, by campaign. Counts the skipped rows by an index of their own: not
 * part of `getProgress`, which a stream reads once a second.
 */
export async function getSkips(db: Db, tenantId: number, ids: readonly number[]): Promise<Map<number, SkipCount[]>> {
  const rows = await db
    .selectFrom('campaign_recipients')
    .select(eb => ['campaign_id', 'reason', eb.fn.countAll<number>().as('count')])
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', anyOf(ids))
    // A constant, so that a generic plan uses the partial index.
    .where('state', '=', sql.lit(STATE.skipped))
    .groupBy(['campaign_id', 'reason'])
    .orderBy('count', 'desc')
    .orderBy('reason')
    .execute();
  const counts = rows.flatMap(row => {
    const reason = reasonOf(row.reason);
    return reason === null ? [] : [{ campaignId: row.campaign_id, reason, count: row.count }];
  });
  return Map.groupBy(counts, ({ campaignId }) => campaignId);
}

async function failuresOf(db: Db, tenantId: number, ids: readonly number[]): Promise<Map<number, Failure[]>> {
  const rows = await db
    .selectFrom('campaign_failures')
    .select(['campaign_id', 'code', 'count'])
    .where('tenant_id', '=', tenantId)
    .where('campaign_id', '=', anyOf(ids))
    .orderBy('count', 'desc')
    .orderBy('code')
    .execute();
  return Map.groupBy(rows, row => row.campaign_id);
}
